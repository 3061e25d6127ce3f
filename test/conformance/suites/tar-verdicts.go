// Prints what Go's archive/tar reads from each of its test archives, as JSON:
//
//	go run tar-verdicts.go FOLDER
package main

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The largest file whose content is read: some are sparse, with terabytes of zeros.
const most = 1 << 24

type entry struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Regular bool   `json:"regular"`
	Sha256  string `json:"sha256"`
}

type verdict struct {
	File    string  `json:"file"`
	Archive string  `json:"archive"`
	Entries []entry `json:"entries"`
	Error   string  `json:"error"`
}

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.tar*"))
	check(err)
	var verdicts []verdict
	for _, file := range files {
		verdicts = append(verdicts, read(file))
	}
	check(json.NewEncoder(os.Stdout).Encode(verdicts))
}

func read(file string) verdict {
	archive, err := os.ReadFile(file)
	check(err)
	switch {
	case strings.HasSuffix(file, ".base64"):
		archive, err = base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(archive), nil)))
	case strings.HasSuffix(file, ".bz2"):
		archive, err = io.ReadAll(bzip2.NewReader(bytes.NewReader(archive)))
	}
	check(err)
	found := verdict{File: filepath.Base(file), Archive: base64.StdEncoding.EncodeToString(archive), Entries: []entry{}}
	reader := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := reader.Next()
		if err == io.EOF {
			return found
		}
		hash := sha256.New()
		if err == nil {
			_, err = io.Copy(hash, io.LimitReader(reader, most))
		}
		if err != nil {
			found.Error = err.Error()
			return found
		}
		regular := header.Typeflag == tar.TypeReg || header.Typeflag == tar.TypeGNUSparse
		found.Entries = append(found.Entries, entry{header.Name, header.Size, regular, hex.EncodeToString(hash.Sum(nil))})
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
