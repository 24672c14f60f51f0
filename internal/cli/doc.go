// Package cli is the command line of unioncel. Only this package opens files, reads the standard
// streams and knows exit codes.
//
// [Main] runs one command. A command on files goes through these steps, each for all files before the
// next begins:
//
//	find    arguments to inputs: standard input, files, the files of directories; with the target
//	        and the scope of each, which has the options of flags and configuration
//	ask     the library, about each file: it is opened once, and its answer stays with the input
//	report  the answers and the diagnostics
//	write   results, names or differences; nothing if there are errors
//
// An error in any input therefore prevents all writes, and files are replaced only once every
// result is complete next to its target.
//
// Each command has a file of its own. They share
//
//	main, root, completion            the program around the commands
//	options, scope, external          flags, configuration, declarations outside the CRDs
//	inputs, paths                     files to read
//	pipeline, convert                 the steps, for all commands and for those that write files
//	printing, join, terminal          output to print
//	output, batch, owner              files to write
package cli
