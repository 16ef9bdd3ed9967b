# shellcheck shell=bash
# Podman, with a configuration and a store of our own, and its API on a socket.
#
# What it needs to run here, found by trying and not by looking (podman 4.3.1, Debian 12):
# - an OCI runtime that accepts the cgroups of the machine: crun refuses the hybrid
#   layout (v1 controllers with a v2 tree beside them), runc does not;
# - the cgroup manager cgroupfs where no systemd runs;
# - the events logger file where no journald runs;
# - limits that it may set: as root it asks for 1048576 open files, which is above
#   the hard limit where CAP_SYS_RESOURCE was taken from root, and it lowers its own
#   hard limit of processes to kernel.pid_max before it starts the runtime, which
#   is then the most a container can be given;
# - catatonit for --init;
# - locks in files: the default ones, in shared memory, are one set for all stores of
#   a user, and a fresh store frees them all.

# podman_command: podman with our configuration, as words in the array podman.
podman_command() {
	podman=(env -u CONTAINER_HOST "CONTAINERS_CONF=$state/podman/containers.conf"
		"CONTAINERS_STORAGE_CONF=$state/podman/storage.conf" podman)
}

# podman_configure RUNTIME LIMITS DRIVER RUN: write the configuration; an empty RUNTIME or
# LIMITS leaves podman's own choice.
podman_configure() {
	local run=$4
	{
		echo '# Written by hack/setup.'
		if [ "$2" = host ]; then
			local files processes most
			files=$(ulimit -Hn)
			processes=$(ulimit -Hu)
			most=$(cat /proc/sys/kernel/pid_max)
			[ "$files" != unlimited ] || files=$(cat /proc/sys/fs/nr_open)
			if [ "$processes" = unlimited ] || [ "$processes" -gt "$most" ]; then processes=$most; fi
			printf '[containers]\ndefault_ulimits = ["nofile=%s:%s", "nproc=%s:%s"]\n' "$files" "$files" "$processes" "$processes"
		fi
		printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nlock_type = "file"\ntmp_dir = "%s"\n' "$run/libpod"
		[ -z "$1" ] || printf 'runtime = "%s"\n' "$1"
		printf '[network]\nnetwork_config_dir = "%s"\n' "$state/podman/networks"
	} >"$state/podman/containers.conf"
	printf '# Written by hack/setup.\n[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' \
		"$3" "$state/podman/$3" "$run/podman" >"$state/podman/storage.conf"
}

# podman_works: import the image and run it.
podman_works() {
	toolbox_import "${podman[@]}" &&
		timeout 60 "${podman[@]}" run --rm --network=none "$toolbox_reference" /bin/true
}

podman_set_up() {
	local run runtime limits driver podman found="" log=$state/podman.log proof
	if ! have podman; then
		missing podman "it is not installed" "sudo apt-get install -y podman runc catatonit"
		return
	fi
	if [ -z "$toolbox_reference" ]; then
		missing podman "there is no test image to try it with" "see the line about toolbox"
		return
	fi
	run=$(sockets)
	podman_command
	mkdir -p "$state/podman/networks" "$run/podman" "$run/libpod"
	# Trying takes seconds, so a success is remembered with all it depends on.
	proof="$(podman --version) $toolbox_content $(cat /proc/sys/kernel/random/boot_id) $(ulimit -Hn) $(ulimit -Hu) $run"
	if [ "$(cat "$state/podman/proof" 2>/dev/null)" = "$proof" ]; then
		found=yes
	else
		: >"$log"
		for driver in overlay vfs; do
			for runtime in '' crun runc; do
				[ -z "$runtime" ] || have "$runtime" || continue
				for limits in '' host; do
					podman_configure "$runtime" "$limits" "$driver" "$run"
					if without_locks podman_works >>"$log" 2>&1; then
						found=yes
						break 3
					fi
				done
			done
		done
	fi
	if [ -z "$found" ]; then
		missing podman "it cannot run a container: $(last_words "$log")" "read $log"
		return
	fi
	echo "$proof" >"$state/podman/proof"
	give CONTAINERS_CONF "$state/podman/containers.conf"
	give CONTAINERS_STORAGE_CONF "$state/podman/storage.conf"
	podman_serve "$run"
}

# podman_serve RUN: the API on a socket of our own.
podman_serve() {
	local host=unix://$1/podman.sock
	if ! running podman || ! podman_answers "$host" >/dev/null; then
		end podman 5
		rm -f "$1/podman.sock"
		# In a directory of its own: a container's monitor writes a file to the one it works in when memory runs out.
		(cd "$1" && detached "${podman[@]}" system service --time=0 "$host" </dev/null >"$state/podman-service.log" 2>&1) &
		started podman $!
		if ! wait_until 20 podman podman_answers "$host"; then
			end podman 5
			missing podman "its API does not answer: $(last_words "$state/podman-service.log")" "read $state/podman-service.log"
			return
		fi
	fi
	# For an ordinary user podman leaves a process behind that keeps its user namespace.
	[ ! -s "$1/libpod/pause.pid" ] || started podman-pause "$(cat "$1/libpod/pause.pid")"
	give SBX_TEST_PODMAN_HOST "$host"
	say podman "$(podman --version | cut -d ' ' -f 3) at $host"
}

podman_answers() { [ -S "${1#unix://}" ] && timeout 10 env -u CONTAINERS_CONF podman --url "$1" version --format '{{.Server.Version}}'; }

podman_stop() {
	local podman
	podman_command
	if running podman; then
		# What a test left behind lives on without the service.
		timeout 60 "${podman[@]}" rm --all --force --time 0 >"$state/podman.log" 2>&1 ||
			say podman "containers are left in our store: $(last_words "$state/podman.log")"
		end podman 10
		say podman "stopped the API service that was started"
	fi
	rm -f "$state/podman.process"
	end podman-pause 5
	# As root podman mounts its store onto itself, which keeps make clean from removing it.
	local mount
	while read -r _ _ _ _ mount _; do
		[[ $mount != "$state"/podman/* ]] || umount "$mount" || say podman "$mount is left mounted"
	done </proc/self/mountinfo
}
