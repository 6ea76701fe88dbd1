package kafkatest

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

//go:embed pom.xml
var pom []byte

// jars are the folder with Apache Kafka and the java that runs it.
type jars struct {
	java string
	dir  string
}

// fetchJars finds Java and the jars, which Maven fetches on first use into the
// folder TONSCRIBE_KAFKA_JARS or the user's cache.
func fetchJars(t testing.TB) jars {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		missing(t, "java", "Apache Kafka not tested: java is not installed (Java 17 or newer is needed)")
	}
	dir := os.Getenv("TONSCRIBE_KAFKA_JARS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = filepath.Join(os.TempDir(), "tonscribe-cache")
		}
		dir = filepath.Join(cache, "tonscribe", "kafka", version())
	}
	if _, err := os.Stat(dir); err == nil {
		return jars{java, dir}
	}
	maven, err := exec.LookPath("mvn")
	if err != nil {
		missing(t, "mvn", "Apache Kafka not tested: mvn is not installed, which fetches it")
	}
	if err := runMaven(maven, dir); err != nil {
		t.Fatalf("fetch Apache Kafka: %v", err)
	}
	return jars{java, dir}
}

// archive is where the JVM keeps the classes of Kafka ready to use, which halves
// its start; the first broker that ends in order leaves it.
func (j jars) archive() string { return j.dir + ".jsa" }

func (j jars) hasArchive() bool {
	_, err := os.Stat(j.archive())
	return err == nil
}

// version is Kafka's, so that another one in pom.xml is fetched anew.
func version() string {
	_, after, _ := strings.Cut(string(pom), "<artifactId>kafka_2.13</artifactId>")
	_, after, _ = strings.Cut(after, "<version>")
	before, _, _ := strings.Cut(after, "<")
	return before
}

// runMaven fills dir, which exists only when it is complete. Test processes of
// several packages may come here at once; one fetches.
func runMaven(maven, dir string) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(parent, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	work, err := os.MkdirTemp(parent, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), pom, 0o644); err != nil {
		return err
	}
	cmd := exec.Command(maven, "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=libs")
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn dependency:copy-dependencies: %w: %s", err, out)
	}
	if found, err := filepath.Glob(filepath.Join(work, "libs", "kafka_*.jar")); err != nil || len(found) == 0 {
		return errors.New("mvn fetched no kafka jar")
	}
	return os.Rename(filepath.Join(work, "libs"), dir)
}

// missing skips the test, or fails it where TONSCRIBE_TEST_REQUIRE (a
// comma-separated list) says that the tool must be there.
func missing(t testing.TB, tool, text string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("TONSCRIBE_TEST_REQUIRE"), ","), tool) {
		t.Fatal(text)
	}
	t.Skip(text)
}
