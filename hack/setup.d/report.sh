# shellcheck shell=bash
# What setup says, and the environment it writes.

# say PART TEXT: one line about a part that is there.
say() { printf 'setup: %-8s %s\n' "$1" "$2" >&2; }

# missing PART WHY CURE: the one line about a part that is not there, which is
# also the reason its tests print when they are skipped.
missing() {
	printf 'setup: %-8s MISSING: %s. Cure: %s\n' "$1" "$2" "$3" >&2
	give "SBX_TEST_${1^^}_MISSING" "$2. Cure: $3"
}

# environment_begin: a new environment, in which no variable of an older one is left.
environment_begin() {
	printf 'unset %s\n' SBX_TEST_{TOOLBOX,ROOTFS,IMAGE,DOCKER_HOST,PODMAN_HOST} \
		SBX_TEST_{SANDBOXES,PACKAGES,TOOLBOX,BWRAP,DOCKER,PODMAN}_MISSING >"$state/env.new"
}

# give NAME VALUE: a variable of the environment.
give() { printf 'export %s=%q\n' "$1" "$2" >>"$state/env.new"; }

# last_words FILE: the last line of a log, for a reason.
last_words() { tail -n 1 "$1" 2>/dev/null | tr -d '\r' | cut -c 1-300; }

# sockets: a directory for sockets and run-time state. Its path is short, since a
# unix socket's path ends at 107 bytes and podman's run root at 50, and it is
# this checkout's and this user's own.
sockets() {
	local id base dir
	id=$(printf '%s' "$state" | cksum | cut -d ' ' -f 1)
	if [ "$(id -u)" -eq 0 ]; then
		base=/run
	elif [ -w "${XDG_RUNTIME_DIR:-/nonexistent}" ]; then
		base=$XDG_RUNTIME_DIR
	else
		base=/tmp
	fi
	dir=$base/sbx-$(id -u)-$id
	# In /tmp anybody could have made it first.
	mkdir -m 700 "$dir" 2>/dev/null || [ -O "$dir" ] && [ ! -L "$dir" ] || return 1
	chmod 700 "$dir"
	printf '%s\n' "$dir"
}

# sockets_end: remove that directory, unless something is still mounted in it.
sockets_end() {
	local dir mount
	dir=$(sockets)
	while read -r _ _ _ _ mount _; do
		[[ $mount != "$dir"/* ]] || return 0
	done </proc/self/mountinfo
	"${sudo[@]}" rm -rf "$dir"
}
