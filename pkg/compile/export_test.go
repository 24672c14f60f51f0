package compile

// ForgetVerdicts forgets what the API server said of CRDs, and Verdicts is how often it was
// asked since.
func ForgetVerdicts() { verdicts.Clear() }

func Verdicts() int { return verdicts.Len() }
