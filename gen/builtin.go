package gen

// The built-in backends. The line stands outside what it makes: delete generated/ whole, and it brings back the same bytes.

//go:generate go tool sbxgen generate -o ../generated ../spec/backends
