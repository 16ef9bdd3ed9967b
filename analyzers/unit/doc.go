// Package unit analyses one compilation unit for "go vet -vettool": it reads the description that the go command writes, runs the rules,
// and writes facts and findings where it is told to. It does what x/tools' unitchecker does, and differs where that would cost us findings
// or time:
//
//   - Findings of packages of the main modules come out also when the unit is analysed for its facts only. The go command keys its
//     cache without that mode (cmd/go/internal/work, (*Builder).vet, go1.26): the first run's answer would stand for both, and
//     "go vet ./dep" after "go vet ./top" would find nothing. The driver filters what was not asked for.
//   - Types come from the compiler's export data and not from source of the standard library, which is not looked at at all; a
//     package that nothing can be learned from is not even parsed.
//   - A unit that cannot be analysed ends with an error, also when only facts were wanted.
package unit
