package runtime

import (
	"slices"
	"strconv"
	"strings"
)

func (r *resolver) user() error {
	u := r.l.User
	if u.Kind == UserDefault {
		u = r.p.User
		if r.knobUser != "" {
			uid, gid, _ := strings.Cut(r.knobUser, ":")
			if gid == "" {
				gid = uid
			}
			a, errA := strconv.Atoi(uid)
			b, errB := strconv.Atoi(gid)
			if errA != nil || errB != nil || a < 0 || b < 0 {
				return denied("user.id", "the user knob is %q, not uid or uid:gid", r.knobUser)
			}
			u = User{Kind: UserID, UID: a, GID: b}
		}
	} else if !slices.Contains(r.p.UserAccept, u.Kind) {
		return denied("user."+string(u.Kind), "the policy of %s does not let a launch choose its user by %s", r.d.Name, u.Kind).WithCure("use one of %v", r.p.UserAccept)
	}
	switch u.Kind {
	case UserDefault:
		return nil
	case UserCaller:
		u.UID, u.GID = r.in.CallerUID, r.in.CallerGID
	case UserID:
		if u.UID < 0 || u.GID < 0 || u.UID > 1<<31 || u.GID > 1<<31 {
			return denied("user.id", "%d:%d is not a user and group id", u.UID, u.GID)
		}
	case UserImage:
	default:
		return denied("user", "%q is not a way to name a user", string(u.Kind))
	}
	r.ask("user." + string(u.Kind))
	r.req.User = u
	return nil
}
