// Package cli is the command line of unioncel. Only this package opens files, reads the standard
// streams and knows exit codes.
//
// [Main] runs one command. A command that turns files into files goes through these steps, each for
// all files before the next begins:
//
//	find     arguments to inputs: standard input, files, the files of directories
//	plan     the target of each result: standard output, in place, or another file
//	read     the inputs
//	convert  bytes to bytes and diagnostics, by the library
//	report   the diagnostics; with an error among them nothing is written
//	deliver  results, names or differences
//
// An error in any input therefore prevents all writes, and files are replaced only once every
// result is complete next to its target.
//
// Each command has a file of its own. They share
//
//	main, root, completion, errors    the program around the commands
//	options, scope, external          flags, configuration, declarations outside the CRDs
//	inputs, paths                     files to read
//	convert, gather                   commands that write files, and that print results
//	printing, join, terminal          output to print
//	output, batch, owner              files to write
package cli
