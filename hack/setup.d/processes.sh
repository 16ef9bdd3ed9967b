# shellcheck shell=bash
# The processes setup starts, told apart from strangers that have their pid by
# the boot and the start time of the process.

# identity PID: what tells this process from a later one with the same pid.
identity() {
	local stat fields
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	# The second field is a name in parentheses that may contain anything;
	# the start time is the 20th after it.
	read -r -a fields <<<"${stat##*) }"
	[ "${fields[0]}" != Z ] || return 1
	printf '%s %s %s\n' "$1" "${fields[19]}" "$(cat /proc/sys/kernel/random/boot_id)"
}

# started NAME PID: remember a process.
started() { identity "$2" >"$state/$1.process"; }

# running NAME: whether the remembered process is still the same and alive.
running() {
	local pid
	[ -s "$state/$1.process" ] || return 1
	read -r pid _ <"$state/$1.process"
	[ "$(identity "$pid")" = "$(cat "$state/$1.process")" ]
}

# end NAME SECONDS: terminate the remembered process, kill it after SECONDS, and
# forget it. What is not ours any more is left alone.
end() {
	local pid deadline=$((SECONDS + $2))
	if running "$1"; then
		read -r pid _ <"$state/$1.process"
		"${sudo[@]}" kill -TERM "$pid" || true
		while running "$1"; do
			if [ "$SECONDS" -ge "$deadline" ]; then
				"${sudo[@]}" kill -KILL "$pid" || true
				deadline=$((SECONDS + 5))
			fi
			sleep 0.05
		done
	fi
	rm -f "$state/$1.process"
}

# wait_until SECONDS NAME COMMAND...: poll COMMAND until it succeeds. It fails when the
# time is over or the remembered process NAME has ended.
wait_until() {
	local deadline=$((SECONDS + $1)) name=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] && running "$name" || return 1
		sleep 0.05
	done
}
