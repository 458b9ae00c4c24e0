# The commit-msg hook takes the form that HACKING.md asks for.
. "$abs_top_srcdir/tests/init.sh"
hook=$abs_top_srcdir/scripts/git-hooks/commit-msg
plan 9
c72=`printf '%072d' 0`
while IFS='|' read -r want label first second; do
  printf '%s\n' "$first" > message
  test -z "$second" || printf '%s\n' "$second" >> message
  ok "$label" run "$want" "$hook" message
done <<END
0|area and change|build: find cuDNN
0|several areas|lib, tests: take odd header lengths
0|a merge|Merge branch 'x'
0|a comment is not looked at|doc: say so|# $c72$c72
1|no area|find cuDNN
1|an empty change|build:
1|a long line|build: $c72
1|a second line|build: find cuDNN|and NCCL
1|nothing|
END
