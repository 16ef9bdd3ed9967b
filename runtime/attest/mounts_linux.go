package attest

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// mountPoints reads the process's mount table. Where one place is mounted twice the later one is what shows.
func (s *Subject) mountPoints() (list []*mountinfo.Info, at map[string]*mountinfo.Info, err error) {
	b, err := readAll(s.base+"/mountinfo", make([]byte, 8192))
	if err != nil {
		return nil, nil, err
	}
	list, err = mountinfo.GetMountsFromReader(bytes.NewReader(b), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("reading mountinfo: %w", err)
	}
	at = make(map[string]*mountinfo.Info, len(list))
	for _, m := range list {
		at[m.Mountpoint] = m
	}
	return list, at, nil
}

func readOnly(m *mountinfo.Info) bool {
	return m.Options == "ro" || strings.HasPrefix(m.Options, "ro,")
}

// readOnlyRoot holds where what is mounted at / cannot be written.
func (s *Subject) readOnlyRoot(runtime.Claim) verdict {
	_, at, err := s.mountPoints()
	if err != nil {
		return unknown(err)
	}
	root := at["/"]
	if root == nil {
		return broken("mountinfo: nothing is mounted at /")
	}
	return hold(readOnly(root), "mountinfo: / is %s %s", root.FSType, root.Options)
}

// mounts holds where every planned mount stands, with its access and its source, and nothing stands that was not planned. Below a bind what
// the source carries comes along, below /proc and /dev what the launcher makes there.
func (s *Subject) mounts(runtime.Claim) verdict {
	list, at, err := s.mountPoints()
	if err != nil {
		return unknown(err)
	}
	root, err := s.rootDir()
	if err != nil {
		return unknown(err)
	}
	planned := make(map[string]*runtime.Mount, len(s.expect.Request.Mounts))
	var wrong []string
	for i := range s.expect.Request.Mounts {
		m := &s.expect.Request.Mounts[i]
		planned[m.Target] = m
		if why := s.mounted(m, at[m.Target], root); why != "" {
			wrong = append(wrong, why)
		}
	}
	closed := 0
	for _, m := range list {
		if readOnly(m) {
			closed++
		}
		if m.Mountpoint == "/" || planned[m.Mountpoint] != nil {
			continue
		}
		above := nearest(planned, m.Mountpoint)
		switch {
		case above == nil || !carries(above.Kind):
			wrong = append(wrong, fmt.Sprintf("%s (%s) was not planned", m.Mountpoint, m.FSType))
		case above.Kind == runtime.MountBindRO && !readOnly(m):
			wrong = append(wrong, fmt.Sprintf("%s, below the read-only %s, is writable", m.Mountpoint, above.Target))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		if len(wrong) > 5 {
			wrong = append(wrong[:5], fmt.Sprintf("and %d more", len(wrong)-5))
		}
		return broken("mountinfo: %s", strings.Join(wrong, "; "))
	}
	return holds("mountinfo: %d mounts, %d of them read-only, for the %d planned", len(list), closed, len(planned))
}

// carries reports whether mounts below one of this kind come with it.
func carries(k runtime.MountKind) bool {
	switch k {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountVolume, runtime.MountProc, runtime.MountDev, runtime.MountDevice:
		return true
	}
	return false
}

// nearest gives the planned mount that p stands in, nil where there is none.
func nearest(planned map[string]*runtime.Mount, p string) *runtime.Mount {
	for {
		parent := path.Dir(p)
		if parent == p {
			return nil
		}
		if m := planned[parent]; m != nil {
			return m
		}
		p = parent
	}
}

// mounted says what is wrong with one planned mount, "" where nothing is.
func (s *Subject) mounted(m *runtime.Mount, have *mountinfo.Info, root int) string {
	switch m.Kind {
	case runtime.MountSymlink, runtime.MountDir:
		return "" // made in the file system, not mounted
	case runtime.MountFile:
		if have == nil {
			// A launcher may copy the data instead of mounting it.
			fd, err := openIn(root, m.Target, 0)
			if err != nil {
				return fmt.Sprintf("%s is not there: %v", m.Target, err)
			}
			unix.Close(fd)
			return ""
		}
	}
	if have == nil {
		return fmt.Sprintf("%s (%s) is not mounted", m.Target, m.Kind)
	}
	switch m.Kind {
	case runtime.MountBindRO, runtime.MountFile:
		if !readOnly(have) {
			return fmt.Sprintf("%s (%s) is writable", m.Target, m.Kind)
		}
	case runtime.MountBindRW, runtime.MountVolume:
		// What the host has read-only stays so.
	case runtime.MountTmpfs, runtime.MountMaskDir:
		if have.FSType != "tmpfs" {
			return fmt.Sprintf("%s is a %s, not a tmpfs", m.Target, have.FSType)
		}
	case runtime.MountProc:
		if have.FSType != "proc" || have.Root != "/" {
			return fmt.Sprintf("%s is %s of a %s, not a proc", m.Target, have.Root, have.FSType)
		}
		// In a pid namespace of its own the host's is the wrong one (each mount of proc is a file system of its own, since Linux 5.8); where
		// the pids are shared, a launcher may show the host's itself.
		var host unix.Stat_t
		if !s.expect.Request.Hardening.PIDNamespace {
			break
		}
		if err := unix.Stat("/proc", &host); err == nil && unix.Major(host.Dev) == uint32(have.Major) && unix.Minor(host.Dev) == uint32(have.Minor) {
			return fmt.Sprintf("%s is the host's own", m.Target)
		}
	case runtime.MountDev:
		if have.FSType != "tmpfs" {
			return fmt.Sprintf("%s is a %s, not a small one of its own", m.Target, have.FSType)
		}
	}
	switch m.Kind {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountSocket, runtime.MountDevice:
		return sameFile(root, m)
	}
	return ""
}

// sameFile compares what stands at a bind's target with the planned source, which has no link in its path: a source that was exchanged
// for a link between planning and mounting is seen here.
func sameFile(root int, m *runtime.Mount) string {
	if !path.IsAbs(m.Source) {
		return ""
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	src, err := unix.Openat2(unix.AT_FDCWD, m.Source, &how)
	if err != nil {
		return fmt.Sprintf("the source of %s, %s, is not what was planned any more: %v", m.Target, m.Source, err)
	}
	defer unix.Close(src)
	dst, err := openIn(root, m.Target, 0)
	if err != nil {
		return fmt.Sprintf("%s cannot be looked at: %v", m.Target, err)
	}
	defer unix.Close(dst)
	var a, b unix.Stat_t
	if err := unix.Fstat(src, &a); err != nil {
		return fmt.Sprintf("the source of %s, %s: %v", m.Target, m.Source, err)
	}
	if err := unix.Fstat(dst, &b); err != nil {
		return fmt.Sprintf("%s: %v", m.Target, err)
	}
	if a.Dev != b.Dev || a.Ino != b.Ino {
		return fmt.Sprintf("%s shows something else than %s", m.Target, m.Source)
	}
	return ""
}
