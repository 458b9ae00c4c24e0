# The manual describes what there is, and nothing else: options, operations,
# statuses, reasons to skip a record, and what is in the files of a run.
. "$abs_top_srcdir/tests/init.sh"
manual=$abs_top_srcdir/doc/dflash.texi
include=$abs_top_srcdir/include/dflash
tools='dflash-bench dflash-capture dflash-inspect dflash-train'
plan 21

# The lines of a chapter, or of a section up to the next one.
chapter () { sed -n "/^@chapter $1\$/,/^@chapter /p" "$manual"; }
section () { sed -nE "/^@section $1\$/,/^@(section|chapter) /p" "$manual"; }
# What follows @item or @itemx; its first word; and the words in @code, too.
items () { sed -n 's/^@itemx* //p'; }
words () { items | grep -oE '^[A-Za-z_]+' | sort -u; }
names () { sed 's/^@itemx* \(.*\)/@code{\1}/' | grep -oE '@code\{[a-z_]+}' \
  | sed 's/.*{\(.*\)}/\1/' | sort -u; }
# same WANTED SEEN: the files have the same lines, at least one.
same () {
  test -s "$1" && diff "$1" "$2" > differ && return
  sed -n 's/^</# missing:/p; s/^>/# too much:/p' differ; return 1
}
# within PART WHOLE: every line of the one is in the other.
within () {
  test -s "$1" && comm -23 "$1" "$2" > missing && ! test -s missing && return
  sed 's/^/# missing: /' missing; return 1
}

for tool in $tools; do
  ok "$tool --help succeeds" run 0 $tool --help
  grep -oE '^ +(-[a-z], )?--[a-z-]+' out | tr -d ' ' | tr , '\n' \
    | sort -u > options
  chapter "Invoking @command{$tool}" | items | grep -oE '^--?[a-z-]+' \
    | sort -u > described
  ok "the manual has the options of $tool" same options described
done

# rows FILE LIST: the first words of the rows of LIST, an X macro of FILE.
rows () {
  sed -n "/^#define $2(X)/,/[^\\\\]\$/p" "$include/$1" \
    | sed -n 's/^ *X(\([A-Za-z_]*\),.*/\1/p' | sort -u
}
rows ops.h DF_OPS > ops
chapter Operations | words > described
ok 'it has the operations' same ops described
rows error.h DF_STATUSES | sed 's/^/DF_/' > statuses
section Statuses | words > described
ok 'it has the statuses' same statuses described
sed -n '/^#define DF_DATA_REASONS/,/[^\\]$/s/.*, "\(.*\)").*/\1/p' \
  "$include/data.h" | sort > reasons
section 'Skipped records' | items | sort > described
ok 'it has the reasons to skip a record' same reasons described
sed -n '/^#define DF_FINDINGS/,/[^\\]$/s/^ *X([A-Z]*, "\([a-z]*\)".*/\1/p' \
  "$include/scan.h" | sort > findings
section Findings | words > described
ok 'it has the kinds of findings' same findings described

sed -n 's/^    {"\([a-z]*\)", ".*/\1/p' \
  "$abs_top_srcdir/src/dflash-bench/suites.c" | sort > suites
chapter 'Invoking @command{dflash-bench}' | items | grep -E '^[a-z]+$' \
  | sort > described
ok 'it has the suites of the benchmark' same suites described

# A run of one step, whose files are looked at.
demo=$abs_top_srcdir/share/demo
head -n 8 "$demo/train.jsonl" > data.jsonl
ok 'a run of a step succeeds' run 0 dflash-train --target "$demo/target" \
  --data data.jsonl --eval-data data.jsonl --output made --max-steps 1 \
  --num-draft-layers 1 --block-size 2 --num-anchors 2 --max-length 256 \
  --token-budget 256 --stats=stats.json --eval-decode 2 --eval-decode-tokens 4
(cd made && ls) | sort > files
chapter 'Output folder' | items | sed 's,/.*,,' | sort -u > described
ok 'it has the files of a run' within files described
keys () { grep -oE '"[a-z_]+" *:' "$1" | tr -d '": ' | sort -u; }
keys made/metrics.jsonl > keys
section Metrics | words | grep -vx skipped > described
ok 'it has the keys of the metrics' same keys described
keys stats.json > keys
section Statistics > text
names < text > described
ok 'it has the keys of the statistics' within keys described
words < text > described
ok 'and no other' within described keys
(cd made/checkpoints/step-1 && ls) | sort > files
section Checkpoints > text
items < text | sort > described
ok 'it has the files of a checkpoint' same files described
sed -n 's/^  "\([a-z_]*\)":.*/\1/p' made/checkpoints/step-1/state.json \
  | sort > keys
names < text > described
ok 'it has the keys of its state' within keys described
(cd made/drafter && ls) | sort > files
chapter Drafters | items | sort > described
ok 'it has the files of a drafter' within files described
