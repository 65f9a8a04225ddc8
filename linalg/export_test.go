package linalg

// What the tests of linalg/scalapack, which are of package linalg_test and run the suite on
// its engines, take from the suite.
var (
	Engines        = engines
	SiteRegimes    = siteRegimes
	GaussianGram   = gaussianGram
	DrawSites      = drawSites
	Seeded         = seeded
	CompareEngines = compareEngines
	Relative       = relative
)
