package mounts

import (
	"strings"
	"syscall"
)

// maxLinks is how many links the kernel follows on one path before it gives up with ELOOP (path_resolution(7)).
const maxLinks = 40

// walk resolves every link on an absolute path, as path_resolution(7) has it. at is called for each prefix, the root first, and again from
// the root each time a link was followed; it gives the text of the link that stands there, or "" for anything else. The last part
// is followed only if follow is true.
func walk(path string, follow bool, at func(prefix string) (link string, err error)) (string, error) {
	links := 0
restart:
	path = squeeze(path)
	if _, err := at("/"); err != nil {
		return "", err
	}
	for done := 0; done < len(path); { // path[:done] is resolved
		end := len(path)
		if i := strings.IndexByte(path[done+1:], '/'); i >= 0 {
			end = done + 1 + i
		}
		if path[done+1:end] == ".." {
			path = path[:max(0, strings.LastIndexByte(path[:done], '/'))] + path[end:]
			goto restart
		}
		link, err := at(path[:end])
		if err != nil {
			return "", err
		}
		if link != "" && (follow || end < len(path)) {
			if links++; links > maxLinks {
				return "", syscall.ELOOP
			}
			if link[0] == '/' {
				path = link + path[end:]
			} else {
				path = path[:done] + "/" + link + path[end:]
			}
			goto restart
		}
		done = end
	}
	if path == "" {
		return "/", nil
	}
	return path, nil
}

// squeeze removes empty and "." parts of an absolute path and the slash at its end; of the root nothing is left.
func squeeze(path string) string {
	if !strings.Contains(path, "//") && !strings.Contains(path, "/./") && !strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "/.") {
		return path
	}
	var b strings.Builder
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			b.WriteByte('/')
			b.WriteString(part)
		}
	}
	return b.String()
}
