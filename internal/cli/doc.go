// Package cli is the command line of unioncel. It is the only package that
// opens files, reads the standard streams and knows about exit codes.
//
// [Main] runs one command. A command that turns files into files goes through
// these steps, each for all files before the next begins:
//
//	find     arguments to inputs: standard input, files, the files of directories
//	plan     where each result goes: standard output, in place, or elsewhere
//	read     the inputs
//	convert  bytes to bytes and diagnostics, by the library
//	report   the diagnostics; with an error among them nothing is written
//	deliver  results, names or differences
//
// So nothing is written when anything is wrong with any input, and files are
// replaced only once every result lies complete beside its target.
package cli
