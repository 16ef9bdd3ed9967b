package script

// Script is what one run does.
type Script struct{}
