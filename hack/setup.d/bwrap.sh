# shellcheck shell=bash
# bubblewrap, proven by a launch: whether user namespaces may be made is decided by
# sysctls, by AppArmor and by what we run in, and only a launch knows.

bwrap_set_up() {
	local log=$state/bwrap.log
	if ! have bwrap; then
		missing bwrap "bubblewrap is not installed" "sudo apt-get install -y bubblewrap"
	elif ! bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true >"$log" 2>&1; then
		missing bwrap "it cannot launch: $(last_words "$log")" "allow user namespaces (kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), or run where /proc may be mounted"
	else
		say bwrap "$(bwrap --version)"
	fi
}
