# Every case of dflash-bench gives the right result, and what is printed is
# what was measured.
. "$abs_top_srcdir/tests/init.sh"
plan 16

ok 'every case once: all are right' run 0 dflash-bench --check
grep -v '^#' out > rows
ok 'there are rows of every suite' \
  test "`awk '{print $1}' rows | uniq | tr '\n' ' '`" = \
  "`sed -n 's/^    {"\([a-z]*\)", ".*/\1/p' \
    "$abs_top_srcdir/src/dflash-bench/suites.c" | tr '\n' ' '`"
ok 'none is wrong, skipped or unchecked' \
  test "`grep -c ' right' rows`" = "`wc -l < rows`"
ok '--list names as many cases' run 0 dflash-bench --list
ok 'as were checked' test "`wc -l < out`" = "`wc -l < rows`"
ok 'no two have the same name' test -z "`sort out | uniq -d`"

fast='--repeat 3 --min-time 0'
ok 'times are taken' run 0 dflash-bench pack $fast --only '64x3x256/packed cpu'
ok 'the head names version, device and command' test \
  "`grep -c -e "^# dflash-bench $VERSION" -e '^# cpu:0: ' \
    -e '^# dflash-bench pack --repeat 3' out`" = 3
ok 'a row has its columns: min <= median <= p95, and GB/s' \
  awk '/^  pack/ { n++; good += $4 > 0 && $4 <= $5 && $5 <= $6 && $9 == "GB/s" }
       END { exit !(n == 1 && good == 1) }' out
ok 'in CSV' run 0 dflash-bench pack copy $fast --csv \
  --only '64x3x256/packed cpu|d2d/4KiB/depth1'
ok 'every row has as many values as the head' awk -F, \
  '/^#/ { next } !n { n = NF } { rows++; bad += NF != n }
   END { exit !(rows == 3 && !bad) }' out
ok 'in JSON' run 0 dflash-bench pack copy $fast --json \
  --only '64x3x256/packed cpu|d2d/4KiB/depth1'
for key in version command model runtime clock_mhz suite case median_s rate \
  unit samples_s; do grep -c "\"$key\":" out; done | sort -u > counts
ok 'a line a result with all that the head says' test "`cat counts`" = 2
ok 'and nothing else' test "`grep -c '^{.*}$' out`" = "`wc -l < out`"

ok '--plot draws' run 0 dflash-bench copy postprocess $fast --plot p.svg \
  --only 'd2h/pinned/(4|16)KiB|packed/depth1'
ok 'curves and bars' test "`grep -c -e '>cpu:0: d2h/pinned<' -e '>GB/s<' \
  -e '>depth 8<' -e '>alone_us<' -e '^</svg>' p.svg`" = 5
