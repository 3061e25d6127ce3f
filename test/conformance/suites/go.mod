// The outside suites that come as Go modules, and the Go whose archive/tar judges archives.
module galley.test/suites

go 1.26.8

require (
	github.com/c2sp/wycheproof v0.0.0-20260902155932-3fa63dd0344a
	github.com/nlnwa/whatwg-url v0.6.2
	golang.org/x/net v0.62.0
)
