// Package tree is what an analysis that follows every path through memory drowns in: it has a path for each node of a tree.
package tree

import "io"

type node interface{ size() int }

type leaf struct {
	key   uint64
	value any
}

func (*leaf) size() int { return 1 }

type branch struct {
	left, right node
	sz          int
}

func (b *branch) size() int { return b.sz }

type Builder struct {
	empty    node
	branches []*branch
	Out      io.Writer
}

type Map struct{ root node }

func (b *Builder) Insert(m Map, key uint64, value any) Map {
	return Map{b.insert(m.root, key, value, func(x, y any) any { return y })}
}

func (b *Builder) InsertWith(m Map, key uint64, value any, merge func(x, y any) any) Map {
	return Map{b.insert(m.root, key, value, merge)}
}

func (b *Builder) insert(n node, key uint64, value any, merge func(x, y any) any) node {
	switch n := n.(type) {
	case *leaf:
		if n.key == key {
			return b.leaf(key, merge(n.value, value))
		}
		return b.branch(b.leaf(key, value), n)
	case *branch:
		if key&1 == 0 {
			return b.branch(b.insert(n.left, key, value, merge), n.right)
		}
		return b.branch(n.left, b.insert(n.right, key, value, merge))
	}
	return b.leaf(key, value)
}

func (b *Builder) Merge(x, y Map, merge func(x, y any) any) Map {
	return Map{b.merge(x.root, y.root, merge)}
}

func (b *Builder) merge(x, y node, merge func(x, y any) any) node {
	switch x := x.(type) {
	case *leaf:
		return b.insert(y, x.key, x.value, merge)
	case *branch:
		switch y := y.(type) {
		case *leaf:
			return b.insert(x, y.key, y.value, merge)
		case *branch:
			return b.branch(b.merge(x.left, y.left, merge), b.merge(x.right, y.right, merge))
		}
		return x
	}
	return y
}

func (b *Builder) Clone(m Map) Map { return Map{b.clone(m.root)} }

func (b *Builder) clone(n node) node {
	switch n := n.(type) {
	case *leaf:
		return b.leaf(n.key, n.value)
	case *branch:
		return b.branch(b.clone(n.left), b.clone(n.right))
	}
	return b.empty
}

func (b *Builder) leaf(key uint64, value any) node { return &leaf{key, value} }

func (b *Builder) branch(left, right node) node {
	n := &branch{left: left, right: right}
	n.sz = left.size() + right.size()
	b.branches = append(b.branches, n)
	return n
}
