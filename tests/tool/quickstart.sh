# quickstart's questions to the system, answered by stand-ins that write
# down what they are asked; nothing is installed and nothing is built.
. "$abs_top_srcdir/tests/init.sh"
plan 18

# A source tree in which each step leaves a line in the file log.
mkdir -p tree/m4 tree/share/demo tree/scripts bin
cp "$abs_top_srcdir/quickstart" tree/
cp "$abs_top_srcdir/scripts/test-summary" tree/scripts/
touch tree/configure.ac tree/m4/df_a.m4 log
export TMP_LOG="$tmp/log"
stub () { # FILE, BODY
  { echo '#!/bin/sh'; echo "$2"; } > "$1"; chmod +x "$1"
}
logged='echo "$(basename "$0") $*" >> "$TMP_LOG"'
stub bin/id 'echo 0'
stub bin/python3 'exit 0'
stub bin/apt-get "$logged"
stub bin/make "$logged; mkdir -p _build/tests/a
echo ':test-result: PASS one' > _build/tests/a/b.trs"
stub tree/share/demo/run "$logged"
# All is installed but what the file lacking names.
stub bin/dpkg 'grep -qx "$2" "$(dirname "$TMP_LOG")/lacking" && exit 1
echo "Status: install ok installed"'
: > lacking
stub new-configure "$logged; touch config.status Makefile"
stub bin/autoreconf "$logged; cp '$tmp/new-configure' configure"
PATH=$tmp/bin:$PATH
q=$tmp/tree/quickstart
said () { grep -qE -- "$1" "$2"; }
never () { ! grep -qE -- "$1" "$2"; }

ok '--help succeeds' run 0 "$q" --help
ok '--help is on stdout' said '^Usage: ./quickstart' out
ok 'no command is a mistake' run 2 "$q"
ok 'so is an unknown one' run 2 "$q" fly
ok 'and an unknown option' run 2 "$q" --nonsense check
ok 'the mistake is named' said "unknown option '--nonsense'" err

echo libjansson-dev > lacking; echo libopenblas-dev >> lacking
ok '--no-install stops' run 2 "$q" --no-install build
ok 'and names what is missing' said '^quickstart: missing.*jansson-dev$' err
ok 'not what has a substitute' never openblas err
ok 'apt-get was not asked' never apt-get log

cd /
ok 'packages are installed, from any folder' \
  sh -c "cd '$tmp' && '$q' build > out 2>&1"
cd "$tmp"
ok 'only those that are missing' \
  said '^apt-get install .* libjansson-dev$' log
ok 'then autoreconf and configure run' \
  test "`grep -cE '^(autoreconf -fi|configure )' log`" = 2
: > lacking; : > log
ok 'a second run succeeds' run 0 "$q" build
ok 'and goes straight to make' \
  never '^(apt-get|autoreconf|configure)' log
ok 'check ends with the counts' \
  sh -c "'$q' check TESTS=x > out 2>&1 && tail -n 1 out |
         grep -qx '1 passed, 0 failed, 0 skipped'"
ok 'its arguments reach make' said 'check TESTS=x$' log
ok 'demo gets the build folder' \
  sh -c "'$q' demo > out 2>&1 && grep -qx 'run $tmp/tree/_build' log"
