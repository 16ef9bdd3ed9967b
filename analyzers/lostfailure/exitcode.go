package lostfailure

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// exitCodes reports exit codes that are read without the flag that says whether they mean anything.
func (c *checker) exitCodes() {
	readers := make(map[*types.Func][]codeRead)
	checks := make(map[*types.Func]map[string]bool)
	callers, calls := make(map[*types.Func][]*types.Func), make(map[*types.Func][]*types.Func)
	for _, file := range c.pass.Files {
		for _, decl := range file.Decls {
			fd, ok := decl.(*ast.FuncDecl)
			if !ok || fd.Body == nil {
				continue
			}
			fn, ok := c.pass.TypesInfo.Defs[fd.Name].(*types.Func)
			if !ok {
				continue
			}
			checks[fn] = make(map[string]bool)
			written := assigned(fd.Body)
			harmless := make(map[*ast.SelectorExpr]bool)
			ast.Inspect(fd.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if callee := calledFunc(c.pass.TypesInfo, n); callee != nil {
						callers[callee] = append(callers[callee], fn)
						calls[fn] = append(calls[fn], callee)
						if inMessage(callee) {
							for _, a := range n.Args {
								silence(a, harmless)
							}
						}
					}
				case *ast.BinaryExpr:
					if n.Op == token.EQL || n.Op == token.NEQ {
						if c.notZero(n.Y) {
							silence(n.X, harmless)
						}
						if c.notZero(n.X) {
							silence(n.Y, harmless)
						}
					}
				case *ast.CompositeLit:
					for _, flag := range flags {
						if owner, ok := c.sets(n, flag); ok {
							checks[fn][owner] = true
						}
					}
				case *ast.SelectorExpr:
					owner, kind := c.codeField(n)
					if kind == isFlag {
						checks[fn][owner] = true
					}
					if kind == isCode && !written[n] && !harmless[n] {
						readers[fn] = append(readers[fn], codeRead{n, owner, c.fromParam(n.X, fn)})
					}
				}
				return true
			})
		}
	}
	// Who calls what looks has it looked.
	looked := func(fn *types.Func, owner string) bool {
		return reachesCheck(fn, owner, calls, checks, make(map[*types.Func]bool))
	}
	for fn, reads := range readers {
		for _, r := range reads {
			if looked(fn, r.owner) {
				continue
			}
			by := callers[fn]
			if r.fromParam && len(by) > 0 && !slices.ContainsFunc(by, func(caller *types.Func) bool { return !looked(caller, r.owner) }) {
				continue // whoever hands it over has looked
			}
			c.report(r.expr.Sel.Pos(), "exit code of %s is read without the running flag beside it: of something that still runs, or never ran, it is 0", r.owner)
		}
	}
}

// reachesCheck reports whether the function, or one of the package that it calls, looks at the flag.
func reachesCheck(fn *types.Func, owner string, calls map[*types.Func][]*types.Func, checks map[*types.Func]map[string]bool, seen map[*types.Func]bool) bool {
	if checks[fn][owner] {
		return true
	}
	if seen[fn] {
		return false
	}
	seen[fn] = true
	for _, callee := range calls[fn] {
		if reachesCheck(callee, owner, calls, checks, seen) {
			return true
		}
	}
	return false
}

// inMessage reports whether the function only words what a test found.
func inMessage(fn *types.Func) bool {
	return fn.Pkg() != nil && fn.Pkg().Path() == "testing" && strings.HasSuffix(fn.Name(), "f")
}

// silence notes the selector that the expression is, or converts: what is done with it needs no flag.
func silence(e ast.Expr, harmless map[*ast.SelectorExpr]bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		harmless[e] = true
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			silence(e.Args[0], harmless)
		}
	}
}

// notZero reports whether the expression is a constant other than 0: what never ran has no such exit code.
func (c *checker) notZero(e ast.Expr) bool {
	v := c.pass.TypesInfo.Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) != 0
}

// sets returns the struct with an exit code whose literal says what the flag is.
func (c *checker) sets(lit *ast.CompositeLit, flag string) (owner string, ok bool) {
	t := c.pass.TypesInfo.Types[lit].Type
	if t == nil {
		return "", false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, isStruct := t.Underlying().(*types.Struct)
	if !isStruct || !fieldNamed(st, flag) {
		return "", false
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == flag {
				return ownerName(t), true
			}
		}
	}
	return "", false
}

func ownerName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

type codeRead struct {
	expr      *ast.SelectorExpr
	owner     string
	fromParam bool
}

const (
	isCode = 1
	isFlag = 2
)

// flags are the names of the fields and methods that say whether an exit code means anything.
var flags = []string{"Running", "Ran"}

// codeField says whether the selector is a struct's exit code, or the flag beside one, and which struct's.
func (c *checker) codeField(sel *ast.SelectorExpr) (owner string, kind int) {
	s := c.pass.TypesInfo.Selections[sel]
	if s == nil || s.Kind() != types.FieldVal {
		return "", 0
	}
	field := s.Obj().Name()
	for _, flag := range flags {
		if field != flag && field != "ExitCode" && field != "Code" && field != "Status" && field != "FinishedAt" {
			continue
		}
		t, st := ownerOf(s)
		if st == nil || !fieldNamed(st, flag) {
			continue
		}
		code := "ExitCode"
		if flag == "Ran" {
			code = "Code"
			named, ok := types.Unalias(t).(*types.Named)
			if !ok || !c.seam(named.Obj().Pkg()) {
				continue
			}
		}
		if !fieldNamed(st, code) {
			continue
		}
		name := ownerName(t)
		if field == code {
			return name, isCode
		}
		if field == flag || field == "Status" || field == "FinishedAt" {
			return name, isFlag
		}
	}
	return "", 0
}

// ownerOf returns the struct that the selected field stands in, which may be an embedded one.
func ownerOf(s *types.Selection) (types.Type, *types.Struct) {
	t := s.Recv()
	for _, i := range s.Index() {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return nil, nil
		}
		if st.Field(i) == s.Obj() {
			return t, st
		}
		t = st.Field(i).Type()
	}
	return nil, nil
}

// fromParam reports whether the expression starts at a parameter of fn.
func (c *checker) fromParam(e ast.Expr, fn *types.Func) bool {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			obj := c.pass.TypesInfo.Uses[x]
			for p := range fn.Signature().Params().Variables() {
				if p == obj {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
}

// assigned returns the selectors that are written to.
func assigned(body ast.Node) map[*ast.SelectorExpr]bool {
	out := make(map[*ast.SelectorExpr]bool)
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, l := range a.Lhs {
				if s, ok := l.(*ast.SelectorExpr); ok {
					out[s] = true
				}
			}
		}
		return true
	})
	return out
}

func calledFunc(info *types.Info, call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	fn, _ := info.Uses[id].(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}
