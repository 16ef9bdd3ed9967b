# shellcheck shell=bash
# A Docker engine: the one that answers, or else one of our own, with its own
# data, sockets and pid file, that shares nothing with the machine's.

# docker_ask HOST: the engine's version, if HOST answers and is Docker's own engine
# (Podman answers the same calls, and says so).
docker_ask() {
	local answer
	answer=$(timeout 10 docker --host "$1" version --format '{{with .Server}}{{(index .Components 0).Name}} {{.Version}}{{end}}' 2>/dev/null) || return 1
	[ "${answer% *}" = Engine ] && printf '%s\n' "${answer#* }"
}

# docker_answering: the host that answers: the caller's own choice, or the usual
# places, or the engine an earlier setup started.
docker_answering() {
	have docker || return 1
	local host
	for host in ${DOCKER_HOST:-unix:///var/run/docker.sock "unix://${XDG_RUNTIME_DIR:-/nonexistent}/docker.sock"} \
		"unix://$(sockets)/docker.sock"; do
		case $host in
		unix://*) [ -S "${host#unix://}" ] || continue ;;
		esac
		docker_ask "$host" >/dev/null && { printf '%s\n' "$host"; return 0; }
	done
	return 1
}

docker_set_up() {
	local host log=$state/docker.log
	if ! have docker; then
		missing docker "no docker command" "sudo apt-get install -y docker.io"
		return
	fi
	if ! host=$(docker_answering); then
		docker_start "$log" || return 0
		host=unix://$(sockets)/docker.sock
	fi
	if [ -n "$toolbox_reference" ] && ! toolbox_import docker --host "$host" >"$log" 2>&1; then
		missing docker "it does not import the test image: $(last_words "$log")" "docker --host $host info"
		return
	fi
	give DOCKER_HOST "$host"
	give SBX_TEST_DOCKER_HOST "$host"
	say docker "engine $(docker_ask "$host") at $host"
}

# docker_bridge: make our engine's bridge and print its name. An engine that is told to
# have none (--bridge none) removes docker0, which is the machine's engine's; so ours
# gets one by name. 198.18.0.0/15 is for tests and never routed (RFC 2544).
docker_bridge() {
	local id name
	id=$(printf '%s' "$state" | cksum | cut -d ' ' -f 1)
	name=sbx$((id % 1000000))
	if ! ip link show "$name" >/dev/null 2>&1; then
		"${sudo[@]}" ip link add "$name" type bridge &&
			"${sudo[@]}" ip address add "198.18.$((id % 256)).1/24" dev "$name" &&
			"${sudo[@]}" ip link set "$name" up || return 1
	fi
	echo "$name" >"$state/docker.bridge"
	echo "$name"
}

# docker_start LOG: our own engine. It makes no firewall rule, so that it cannot disturb
# another engine's: its containers reach each other and the host, not the world.
docker_start() {
	local log=$1 run why bridge
	if ! have dockerd; then
		missing docker "no engine answers and none is installed" "sudo apt-get install -y docker.io"
		return 1
	fi
	if [ "$(id -u)" -ne 0 ] && [ "${#sudo[@]}" -eq 0 ]; then
		if [ -S /var/run/docker.sock ] && [ ! -w /var/run/docker.sock ]; then
			missing docker "this user may not use the engine at /var/run/docker.sock" "sudo usermod -aG docker \"\$USER\", and log in again"
			return 1
		fi
		missing docker "no engine answers, and only root may start one" "sudo systemctl start docker, and be in the group docker"
		return 1
	fi
	run=$(sockets)
	end docker 1 # a recorded one that does not answer
	say docker "no engine answers: starting one"
	if ! bridge=$(docker_bridge 2>"$log"); then
		missing docker "no engine answers, and one of our own gets no bridge: $(last_words "$log")" "start the machine's engine"
		return 1
	fi
	# The machine's /etc/docker/daemon.json is for the machine's engine, and what it says
	# may not be said by a flag as well.
	echo '{}' >"$state/docker.json"
	# The group lets the caller of sudo connect.
	detached "${sudo[@]}" env PATH="$PATH" setsid dockerd \
		--config-file "$state/docker.json" --host "unix://$run/docker.sock" --group "$(id -g)" \
		--data-root "$state/docker" --exec-root "$run/docker" --pidfile "$run/docker.pid" \
		--bridge "$bridge" --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false --userland-proxy=false --shutdown-timeout 2 \
		</dev/null >"$state/dockerd.log" 2>&1 &
	started docker $!
	if ! wait_until 60 docker docker_ask "unix://$run/docker.sock"; then
		why=$(grep -E 'failed to|level=(fatal|error)' "$state/dockerd.log" | tail -n 1 | cut -c 1-300 || true)
		docker_stop
		missing docker "an engine of our own does not start: ${why:-$(last_words "$state/dockerd.log")}" "read $state/dockerd.log, or start the machine's engine"
		return 1
	fi
	# Under sudo the process started is sudo's.
	[ "${#sudo[@]}" -eq 0 ] || started docker "$("${sudo[@]}" cat "$run/docker.pid")"
}

docker_stop() {
	if running docker; then
		# It ends its containers and its containerd first.
		end docker 30
		say docker "stopped the engine that was started"
	fi
	rm -f "$state/docker.process"
	# The network namespace that containers of the host's network share stays mounted.
	while read -r _ _ _ _ mount _; do
		[[ $mount != "$(sockets)"/docker/* ]] || "${sudo[@]}" umount "$mount" || say docker "$mount is left mounted"
	done </proc/self/mountinfo
	if [ -s "$state/docker.bridge" ]; then
		"${sudo[@]}" ip link delete "$(cat "$state/docker.bridge")" || say docker "the bridge $(cat "$state/docker.bridge") is left behind"
		rm -f "$state/docker.bridge"
	fi
}
