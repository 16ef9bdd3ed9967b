# shellcheck shell=bash
# The Debian packages the tests need, installed where setup may do so.

# have COMMAND: whether it can be found.
have() { command -v "$1" >/dev/null 2>&1; }

packages_wanted() {
	have bwrap || echo bubblewrap
	have ip || echo iproute2
	# The race detector links with C.
	{ have gcc && [ -e /usr/include/stdlib.h ]; } || echo gcc libc6-dev
	have docker || echo docker.io
	have dockerd || docker_answering >/dev/null || echo docker.io
	have podman || echo podman
	# Named, since podman would be content with crun, and crun refuses hybrid cgroups.
	have runc || echo runc
	# Podman's --init.
	{ have catatonit || [ -x /usr/libexec/podman/catatonit ]; } || echo catatonit
	# Podman for an ordinary user.
	[ "$(id -u)" -eq 0 ] || {
		have newuidmap || echo uidmap
		have slirp4netns || echo slirp4netns
	}
}

packages_set_up() {
	local wanted log=$state/packages.log
	mapfile -t wanted < <(packages_wanted | tr ' ' '\n' | sort -u)
	[ "${#wanted[@]}" -gt 0 ] || return 0
	local cure="sudo apt-get install -y ${wanted[*]}"
	if [ "${SBX_SETUP_INSTALL-}" = never ]; then
		missing packages "not installed, as SBX_SETUP_INSTALL=never wants it: ${wanted[*]}" "$cure"
	elif ! have apt-get; then
		missing packages "no apt-get here to install ${wanted[*]}" "install them with this system's package manager"
	elif [ "$(id -u)" -ne 0 ] && [ "${#sudo[@]}" -eq 0 ]; then
		missing packages "not root, and sudo asks for a password: cannot install ${wanted[*]}" "$cure"
	else
		say packages "installing ${wanted[*]}"
		packages_install "$log" "${wanted[@]}" ||
			missing packages "apt-get failed ($(packages_fault "$log")): ${wanted[*]}" "$cure"
	fi
}

# packages_fault LOG: what apt-get said was wrong.
packages_fault() { grep '^E: ' "$1" | tail -n 1 | cut -c 4-300 || last_words "$1"; }

# packages_install LOG PACKAGE...: all at once, or else each that can be had.
packages_install() {
	local log=$1 package failed=0
	shift
	# The lock is the machine's: apt-get update of two checkouts at once would fail.
	"${sudo[@]}" flock /var/cache/apt/sbx-setup.lock bash -c '
		set -u
		export DEBIAN_FRONTEND=noninteractive
		get() { apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Acquire::http::Timeout=30 "$@" </dev/null; }
		get update || echo "apt-get update failed: going on with the lists there are"
		get install --no-install-recommends "$@" && exit 0
		status=0
		for package; do get install --no-install-recommends "$package" || status=1; done
		exit "$status"
	' packages "$@" >"$log" 2>&1 || failed=1
	# From Debian 13 on the client is a package of its own.
	if ! have docker && apt-cache show docker-cli >/dev/null 2>&1; then
		"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends docker-cli >>"$log" 2>&1 </dev/null || failed=1
	fi
	return "$failed"
}
