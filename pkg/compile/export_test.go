package compile

// ForgetVerdicts clears the cache of validation results. Verdicts returns the number of CRDs
// validated since.
func ForgetVerdicts() { verdicts.Clear() }

func Verdicts() int { return verdicts.Len() }
