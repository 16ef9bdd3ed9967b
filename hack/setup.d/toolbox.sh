# shellcheck shell=bash
# The toolbox: one static binary that is the test image and a root filesystem.

# The host is a name that never resolves (RFC 6761), so that no engine can ever
# ask a registry for the image.
toolbox_repository=sbxkit.invalid/toolbox

toolbox_set_up() {
	local log=$state/toolbox.log
	toolbox_reference=
	if ! have go; then
		missing toolbox "no go command in PATH" "install Go, https://go.dev/dl"
		return
	fi
	mkdir -p "$state/toolbox"
	if ! (cd "$root" && CGO_ENABLED=0 GOOS=linux GOFLAGS="" go build -trimpath -buildvcs=false -ldflags='-s -w' -o "$state/toolbox/toolbox" ./hack/toolbox) >"$log" 2>&1; then
		missing toolbox "it does not build: $(last_words "$log")" "go build ./hack/toolbox"
		return
	fi
	# The build is reproducible, so the binary stands for its source.
	toolbox_content=$(sha256sum "$state/toolbox/toolbox" | cut -c 1-16)
	toolbox_reference=$toolbox_repository:$toolbox_content
	toolbox_root=$root/.cache/toolbox-root
	[ -z "${SBX_SETUP_STATE-}" ] || toolbox_root=$state/toolbox-root
	if [ "$(cat "$state/toolbox/installed" 2>/dev/null)" != "$toolbox_content" ] || [ ! -x "$toolbox_root/bin/toolbox" ]; then
		rm -rf "$toolbox_root.new"
		"$state/toolbox/toolbox" install "$toolbox_root.new"
		rm -rf "$toolbox_root"
		mv "$toolbox_root.new" "$toolbox_root"
		echo "$toolbox_content" >"$state/toolbox/installed"
	fi
	give SBX_TEST_TOOLBOX "$toolbox_root/bin/toolbox"
	give SBX_TEST_ROOTFS "$toolbox_root"
	give SBX_TEST_IMAGE "$toolbox_reference"
	say toolbox "$toolbox_reference, unpacked in ${toolbox_root#"$root"/}"
}

# toolbox_import COMMAND...: imports the image with an engine's command line, unless
# the engine has this very content already. The tag 1 follows, for people.
toolbox_import() {
	[ "$(timeout 30 "$@" image inspect --format '{{index .Config.Labels "sbxkit.toolbox.content"}}' "$toolbox_reference" 2>/dev/null)" != "$toolbox_content" ] || return 0
	tar --create --owner=0 --group=0 --numeric-owner --sort=name --mtime=@0 --directory="$toolbox_root" . |
		timeout 120 "$@" import \
			--change "LABEL sbxkit.toolbox.content=$toolbox_content" \
			--change 'ENV PATH=/bin' --change 'WORKDIR /' --change 'CMD ["/bin/sh"]' - "$toolbox_reference" &&
		timeout 30 "$@" tag "$toolbox_reference" "$toolbox_repository:1"
}
