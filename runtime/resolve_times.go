package runtime

import "time"

func (r *resolver) times() error {
	l, p := r.l.Timeouts, r.p.Timeouts
	for _, t := range []struct {
		name             string
		want, policy     time.Duration
		out              *time.Duration
		lowerOnly, asked bool
	}{
		{"timeouts.start", l.Start, p.Start, &r.req.Timeouts.Start, true, true},
		{"timeouts.wall", l.Wall, p.Wall, &r.req.Timeouts.Wall, true, true},
		{"timeouts.idle", l.Idle, p.Idle, &r.req.Timeouts.Idle, true, true},
		{"timeouts.grace", l.Grace, p.Grace, &r.req.Timeouts.Grace, false, true},
		{"timeouts.liveness", l.Liveness, p.Liveness, &r.req.Timeouts.Liveness, false, r.l.Liveness != nil},
	} {
		if t.want < 0 {
			return denied(t.name, "%s: %v is negative", t.name, t.want)
		}
		*t.out = t.policy
		if t.want > 0 {
			if t.lowerOnly && t.policy > 0 && t.want > t.policy {
				return denied(t.name, "%s: %v is above the policy's %v; a launch may lower it, not raise it", t.name, t.want, t.policy)
			}
			*t.out = t.want
		}
		if *t.out > 0 && t.asked {
			r.ask(t.name)
		}
	}
	if r.l.Liveness != nil {
		r.ask("liveness.hook")
		r.req.Liveness = true
	}
	if r.l.Heartbeat < 0 {
		return denied("liveness.heartbeat", "a heartbeat of %v is negative", r.l.Heartbeat)
	}
	if r.l.Heartbeat > 0 {
		r.ask("liveness.heartbeat")
		r.req.Heartbeat = r.l.Heartbeat
	}
	if y := r.l.Ready; y != nil {
		n := 0
		for _, f := range []struct {
			name string
			set  bool
		}{{"ready.exec", len(y.Exec) > 0}, {"ready.port", y.Port > 0}, {"ready.line", y.Line != ""}, {"ready.notify", y.Notify}, {"ready.health", y.Health}} {
			if f.set {
				n++
				r.ask(f.name)
			}
		}
		if n != 1 {
			return denied("ready", "Ready needs exactly one of exec, port, line, notify and health")
		}
		c := *y
		r.req.Ready = &c
	}
	if a := r.l.Artifacts; a != nil && len(a.Paths) > 0 {
		if err := r.artifacts(*a); err != nil {
			return err
		}
	}
	if r.l.Charge != nil {
		r.ask("charge")
	}
	return nil
}
