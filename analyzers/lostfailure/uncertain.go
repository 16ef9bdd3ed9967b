package lostfailure

import (
	"go/ast"
	"go/token"
	"go/types"
)

// uncertain reports comparisons that put Uncertain into one pot with another outcome, or take it for a success.
func (c *checker) uncertain() {
	for _, file := range c.pass.Files {
		inner := make(map[ast.Expr]bool) // operands of a || or && that has been looked at as a whole
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				c.caseOf(n)
			case *ast.BinaryExpr:
				switch n.Op {
				case token.LOR, token.LAND:
					if !inner[n] {
						c.pot(n, inner)
					}
				case token.LSS, token.LEQ, token.GTR, token.GEQ:
					if c.isUncertain(n.X) || c.isUncertain(n.Y) {
						c.report(n.Pos(), "Uncertain is compared by its place among the outcomes; name the outcomes that are meant")
					}
				}
			case *ast.IfStmt:
				if c.says(n.Cond) && succeeds(c.pass.TypesInfo, n.Body.List) {
					c.report(n.Cond.Pos(), "Uncertain is taken for success: nobody knows what happened; return the failure and settle what is left")
				}
			}
			return true
		})
	}
}

// caseOf looks at one case: Uncertain must not share it with other outcomes, and must not be a success.
func (c *checker) caseOf(n *ast.CaseClause) {
	for _, e := range n.List {
		if !c.isUncertain(e) {
			continue
		}
		switch {
		case len(n.List) > 1:
			c.report(e.Pos(), "Uncertain shares a case with other outcomes: it is neither a success nor a failure of the command; give it a case of its own")
		case succeeds(c.pass.TypesInfo, n.Body):
			c.report(e.Pos(), "Uncertain is taken for success: nobody knows what happened; return the failure and settle what is left")
		}
	}
}

// pot looks at a chain of comparisons of one value: o == Exited || o == Uncertain, o != Exited && o != Uncertain.
func (c *checker) pot(n *ast.BinaryExpr, inner map[ast.Expr]bool) {
	want := token.EQL
	if n.Op == token.LAND {
		want = token.NEQ
	}
	uncertain := make(map[string]ast.Expr)
	others := make(map[string]bool)
	var walk func(e ast.Expr)
	walk = func(e ast.Expr) {
		e = ast.Unparen(e)
		b, ok := e.(*ast.BinaryExpr)
		if !ok {
			return
		}
		if b.Op == n.Op {
			inner[b] = true
			walk(b.X)
			walk(b.Y)
			return
		}
		if b.Op != want {
			return
		}
		x, y := b.X, b.Y
		if c.outcomeConst(x) != "" {
			x, y = y, x
		}
		switch name := c.outcomeConst(y); {
		case name == "":
		case isUncertainName(name):
			uncertain[types.ExprString(x)] = b
		default:
			others[types.ExprString(x)] = true
		}
	}
	walk(n)
	for x, at := range uncertain {
		if others[x] {
			c.report(at.Pos(), "Uncertain is treated like another outcome: it is neither a success nor a failure of the command; tell it apart")
		}
	}
}

// says reports whether the condition is that something is Uncertain.
func (c *checker) says(cond ast.Expr) bool {
	switch e := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		return e.Op == token.EQL && (c.isUncertain(e.X) || c.isUncertain(e.Y))
	case *ast.CallExpr:
		fn := calledFunc(c.pass.TypesInfo, e)
		return fn != nil && fn.FullName() == "errors.Is" && len(e.Args) == 2 && c.isSentinel(e.Args[1])
	}
	return false
}

func (c *checker) isUncertain(e ast.Expr) bool { return isUncertainName(c.outcomeConst(e)) }

func isUncertainName(name string) bool { return name == "Uncertain" || name == "UncertainOutcome" }

// outcomeConst returns the name of the seam's constant that e is, "" for anything else.
func (c *checker) outcomeConst(e ast.Expr) string {
	k, ok := c.used(e).(*types.Const)
	if !ok || !c.seam(k.Pkg()) {
		return ""
	}
	if _, ok := types.Unalias(k.Type()).(*types.Named); !ok {
		return ""
	}
	return k.Name()
}

func (c *checker) isSentinel(e ast.Expr) bool {
	v, ok := c.used(e).(*types.Var)
	return ok && c.seam(v.Pkg()) && v.Name() == "ErrUncertain"
}

func (c *checker) used(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.pass.TypesInfo.Uses[e]
	case *ast.SelectorExpr:
		return c.pass.TypesInfo.Uses[e.Sel]
	}
	return nil
}

// succeeds reports whether the statements are but a return that says success: a nil error last, or true alone.
func succeeds(info *types.Info, body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	ret, ok := body[len(body)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 {
		return false
	}
	for _, s := range body[:len(body)-1] {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := e.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if fn := calledFunc(info, call); fn == nil || !logs(fn) {
			return false
		}
	}
	last := ret.Results[len(ret.Results)-1]
	if info.Types[last].IsNil() {
		return true
	}
	id, ok := last.(*ast.Ident)
	return ok && len(ret.Results) == 1 && info.Uses[id] == types.Universe.Lookup("true")
}
