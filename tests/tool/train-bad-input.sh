# What dflash-train is given can be broken in many ways: one line that names
# the file and says what is wrong with it, status 2, nothing written.
. "$abs_top_srcdir/tests/tool/train.sh"

# What is wrong, commands that make it so in a copy of the target, and what
# the message begins with or has in it.
# edit FILE SCRIPT: sed; the offsets in a safetensors header stand as long as
# its length does.
edit () { sed "$2" "$1" > edited && mv edited "$1"; }
# shape_of TENSOR SHAPE: another shape of as many characters.
shape_of () {
  edit model.safetensors \
    's/\("'"$1"'":{"dtype":"BF16","shape":\)\[[0-9,]*\]/\1['"$2"']/'
}
index () { echo "$1" > model.safetensors.index.json; }
# header BYTES: the length that the weights begin with.
header () { printf "$1" | dd of=model.safetensors conv=notrunc 2> /dev/null; }
more_tokens () {
  edit tokenizer.json '/"id": 4095/,/}/s/}/}, {"id": 4096, "content": "<x>",\
"special": false, "single_word": false, "lstrip": false, "rstrip": false,\
"normalized": false}/'
}
cat > targets <<'END_OF'
no folder|cd ..; rm -r t|t: No such file or directory
no config.json|rm config.json|t/config.json: No such file or directory
no weights|rm model.safetensors|t: neither model.safetensors nor model.safetensors.index.json
no tokenizer|rm tokenizer.json|t/tokenizer.json: No such file or directory
no mask token|rm tokenizer_config.json|t: no mask token in the tokenizer and no unused row in the embedding (4096 rows, 4096 tokens): choose one with --mask-token-id
no chat template|edit tokenizer_config.json 's/chat_template/chit_template/'|data.jsonl:1: a conversation, but there is no chat template
empty config.json|: > config.json|t/config.json:
half a config.json|head -c 100 config.json > c; mv c config.json|t/config.json:
an unknown model|edit config.json s/qwen3/mamba/|t/config.json: model_type
a negative width|edit config.json 's/"hidden_size": 256/"hidden_size": -1/'|t/config.json: hidden_size is -1
another width|edit config.json 's/"hidden_size": 256/"hidden_size": 128/'|t/model.safetensors: tensor model.embed_tokens.weight has shape [4096, 256], config.json wants [4096, 128]
an unknown activation|edit config.json 's/"hidden_act": "silu"/"hidden_act": "gelu"/'|t/config.json: hidden_act
a layer too much|edit config.json 's/"num_hidden_layers": 6/"num_hidden_layers": 7/;s/"layer_types": \[/&"full_attention",/'|t: no tensor model.layers.6.input_layernorm.weight
an unknown rope|edit config.json 's/"rope_type": "default"/"rope_type": "longrope"/'|t/config.json:
empty weights|: > model.safetensors|t/model.safetensors:
5 bytes of weights|head -c 5 model.safetensors > m; mv m model.safetensors|t/model.safetensors:
weights that end in their header|head -c 2000 model.safetensors > m; mv m model.safetensors|t/model.safetensors:
weights that end early|head -c 9000000 model.safetensors > m; mv m model.safetensors|t/model.safetensors:
weights that end late|echo x >> model.safetensors|t/model.safetensors:
a header without end|header '\377\377\377\377\377\377\377\377'|t/model.safetensors:
a header beyond the file|header '\377\377\377\377\000\000\000\000'|t/model.safetensors:
no header|header '\000\000\000\000\000\000\000\000'|t/model.safetensors:
a header that is not JSON|edit model.safetensors '1s/{"__meta/["__meta/'|t/model.safetensors:
a tensor over others|edit model.safetensors '1s/\[2097152,2097664\]/[2097152,9999999]/'|t/model.safetensors: tensor model.layers.0.input_layernorm.weight
a tensor from end to start|edit model.safetensors '1s/\[2097152,2097664\]/[2097664,2097152]/'|t/model.safetensors: tensor model.layers.0.input_layernorm.weight
a tensor before the file|edit model.safetensors '1s/\[0,2097152\]/[0,-097152]/'|t/model.safetensors:
the embedding on its side|shape_of model.embed_tokens.weight 256,4096|t/model.safetensors: tensor model.embed_tokens.weight has shape [256, 4096], config.json wants [4096, 256]
a layer on its side|shape_of model.layers.3.mlp.up_proj.weight 256,512|t/model.safetensors: tensor model.layers.3.mlp.up_proj.weight has shape [256, 512], config.json wants [512, 256]
a shape of other size|shape_of model.norm.weight 255|t/model.safetensors: tensor model.norm.weight: BF16 [255] has 510 bytes, but data_offsets span 512
an integer tensor|edit model.safetensors '1s/\("model.norm.weight":{"dtype":"\)BF16"/\1I16" /'|t/model.safetensors: unsupported dtype I16 in tensor model.norm.weight
a tensor of another name|edit model.safetensors '1s/model.layers.0.input_layernorm/model.layers.0.inqut_layernorm/'|t: no tensor model.layers.0.input_layernorm.weight
a shard missing|rm model.safetensors; index '{"weight_map": {"model.norm.weight": "model-00001-of-00002.safetensors"}}'|t/model.safetensors.index.json: 1 shard missing: model-00001-of-00002.safetensors
a shard elsewhere|rm model.safetensors; index '{"weight_map": {"model.norm.weight": "../m.safetensors"}}'|t/model.safetensors.index.json:
an index of no shape|rm model.safetensors; index '{"weight_map": []}'|t/model.safetensors.index.json:
half an index|rm model.safetensors; index '{'|t/model.safetensors.index.json:2:0: not JSON
an index of what is not there|mv model.safetensors a.safetensors; index '{"weight_map": {"model.norm.weight": "a.safetensors", "other": "a.safetensors"}}'|other
an empty tokenizer|: > tokenizer.json|t/tokenizer.json:
an unknown normalizer|edit tokenizer.json 's/"type": "NFC"/"type": "Nmt"/'|t/tokenizer.json: normalizer
an unknown pre-tokenizer|edit tokenizer.json 's/"type": "ByteLevel"/"type": "Metaspace"/'|t/tokenizer.json: pre_tokenizer
an unknown model of tokens|edit tokenizer.json 's/"type": "BPE"/"type": "WordPiece"/'|t/tokenizer.json: model
a bad pattern|edit tokenizer.json 's/(?i:/(?Q:/'|t/tokenizer.json: pre_tokenizer
more tokens than rows|more_tokens|t: the tokenizer has 4097 tokens, but the embedding only 4096 rows
a bad template|edit tokenizer_config.json 's/{% endfor %}/{% endfer %}/'|endfer
a template of what is not there|edit tokenizer_config.json 's/message\[/messige[/'|data.jsonl: no usable record: 12 read, refused by the chat template: 12
END_OF

# Lines of a data set (printf's escapes); "|"; options or nothing; "|"; the
# message.
turn='{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b c d e f"}]}'
cat > lines <<'END_OF'
||d.jsonl: no usable record: 0 read
\n  \n\r\n||d.jsonl: no usable record: 0 read
@\n{"messages": [}\n||d.jsonl:2:15: not JSON
@\n\n\n{"text": "a"\n||d.jsonl:4:
{"text": "\\ud83d"}\n||d.jsonl:1:
@\n{"text": "\377"}\n||d.jsonl:2:
@\n[1]\n||d.jsonl:2: is an array, not an object
@\n7\n||d.jsonl:2
@ @\n||d.jsonl:1:
@\n{"words": "a"}\n||d.jsonl:2: none of messages, conversations, text
{"text": 7}\n||d.jsonl:1: text is an integer, not a string
{"text": "a", "text": "b"}\n||d.jsonl:1:
{"messages": {}}\n||d.jsonl:1: messages is an object, not an array
{"messages": ["a"]}\n||d.jsonl:1: message 0 is a string, not an object
{"messages": [{"content": "a"}]}\n||d.jsonl:1: message 0 has no role
{"messages": [{"role": "poet", "content": "a"}]}\n||d.jsonl:1: message 0: unknown role 'poet'
{"messages": [{"role": "user"}]}\n||d.jsonl:1: message 0: content is nothing, not a string
{"messages": [{"role": "user", "content": [{"type": "image"}]}]}\n||d.jsonl:1: message 0: part 0 is of type 'image'
{"input_ids": [5, 4096], "loss_mask": [1, 1]}\n||d.jsonl:1:
{"input_ids": [5, -1], "loss_mask": [1, 1]}\n||d.jsonl:1:
{"input_ids": [5, 6], "loss_mask": [1]}\n||d.jsonl:1:
{"input_ids": [5, 6], "loss_mask": [1, 2]}\n||d.jsonl:1:
{"messages": []}\n||d.jsonl: no usable record: 1 read, an empty conversation: 1
{"messages": []}\n{"messages": [{"role": "user", "content": "a"}]}\n{"text": "a"}\n||d.jsonl: no usable record: 3 read, an empty conversation: 1; no assistant turn: 1; nowhere two supervised tokens in a row: 1
@\n{"messages": []}\n|--strict|d.jsonl:2: an empty conversation
@\n{"messages": [{"role": "user", "content": "a"}]}\n|--strict|d.jsonl:2: no assistant turn
@\n{"messages": [{"role": "assistant", "content": "a"}]}\n|--strict|d.jsonl:2: an assistant turn at the start
@\n{"text": "a"}\n|--strict|d.jsonl:2: nowhere two supervised tokens in a row
@\n|--max-length 8 --strict|d.jsonl:1: nothing to learn within the maximal length
@\n|--data absent.jsonl|absent.jsonl: No such file or directory
@\n|--data .|.: is a folder
@\n|--data /dev/null|/dev/null: not a regular file
@\n|--eval-data absent.jsonl|absent.jsonl: No such file or directory
@\n|--chat-template absent.jinja|absent.jinja:
@\n|--init-from absent|absent
END_OF

n=`cat targets lines | wc -l`
plan `expr $n + 41`

# The message is the last line; before it there may be notes on the data.
one_line () {
  test ! -s out && test "`grep -cv 'records, .* samples used' err`" = 1 ||
    return 1
  case `tail -n 1 err` in "dflash-train: "*"$1"*) return ;; esac
  return 1
}
refused () { # MESSAGE COMMAND...
  message=$1; shift
  run 2 "$@" && one_line "$message" && lacks new && return
  echo "# wanted: $message"; sed 's/^/# /' err; return 1
}
while IFS='|' read -r label commands message; do
  rm -rf t; cp -r "$target" t; chmod -R u+w t
  ( cd t && eval "$commands" ) || echo "# $label: failed to make it"
  ok "target: $label" refused "$message" dflash-train --target t \
    --data data.jsonl --output new $tiny
done < targets

while IFS='|' read -r text options message; do
  printf "`printf '%s\n' "$text" | sed "s/@/$turn/g"`" > d.jsonl
  ok "data: $message" refused "$message" dflash-train --target "$target" \
    --data d.jsonl --output new $tiny $options
done < lines
: > d.jsonl; truncate -s 257M d.jsonl
ok 'data: a line that is too long' \
  refused 'd.jsonl:1: a line of 269484032 bytes, more than 268435456' \
  dflash-train --target "$target" --data d.jsonl --output new $tiny

# Data sets that are unusual and good: printf's format for three records.
reads () {
  run 0 dflash-train --target "$target" --data d.jsonl --output new $tiny \
    --max-steps 1 --overwrite && says "d.jsonl: $1"
}
three='3 records, 3 samples used'
while IFS='|' read -r label format; do
  printf "$format" "$turn" "$turn" "$turn" > d.jsonl
  ok "data: $label is no trouble" reads "$three"
done <<'END_OF'
the usual|%s\n%s\n%s\n
a BOM|\357\273\277%s\n%s\n%s\n
CRLF|%s\r\n%s\r\n%s\r\n
a blank line|\n%s\n  \n%s\n\t\n%s\n\n
no newline at the end|%s\n%s\n%s
END_OF
printf '%s\n{"messages": []}\n%s\n{"text": "a"}\n[]\n' "$turn" "$turn" |
  sed '$d' > d.jsonl
ok 'data: what cannot be used is skipped' \
  reads '4 records, 2 samples used'
ok '  and counted' \
  says 'warning: 1 skipped: an empty conversation; the first is d.jsonl:2$'
ok '  by its reason' says \
  'warning: 1 skipped: nowhere two supervised tokens in a row; .*jsonl:4$'
rm -r new

# Output folders.
state () { find "$1" -type f | sort | xargs cksum; }
output_refused () { # MESSAGE OUTPUT OPTION...
  message=$1; shift
  trains 2 "$@" && one_line "$message"
}
echo file > file
ok 'output: a file is in the way' output_refused 'file: is no folder' file
ok '  and is still there' test "`cat file`" = file
ok 'output: below a file' output_refused 'file/o: Not a directory' file/o
ok 'output: in no folder' output_refused \
  "a/b: can't be made: a: No such file or directory" a/b
ok '  which is not made' lacks a
ok 'output: where none can be made' output_refused '/proc/o: ' /proc/o
mkdir shut; chmod a-w shut
if test -w shut; then
  skip_rest 2 'root may write anywhere'
else
  ok 'output: a folder not to be written' output_refused \
    'shut: Permission denied' shut
  ok 'output: in a folder not to be written' output_refused \
    "shut/o: can't be made: shut: Permission denied" shut/o
fi
ok 'a first run' trains 0 o --max-steps 2
state o > before
ok 'output: another run' output_refused \
  'o: holds another run: go on with it by --resume, or replace it by' o
ok 'another run with bad data' output_refused 'absent.jsonl' o --overwrite \
  --data absent.jsonl
ok 'another run with bad weights' output_refused 'absent' o --overwrite \
  --init-from absent
state o > after
ok '  leaves what was there' cmp before after
ok 'a run may be replaced' trains 0 o --max-steps 1 --overwrite
ok '  its checkpoints too' test "`ls o/checkpoints`" = step-1
echo mine > o/drafter/note
ok 'a run whose drafter has a file beside it' trains 0 o --max-steps 1 \
  --overwrite
ok '  has a new drafter' test -f o/drafter/model.safetensors
ok '  and the file is still there' grep -rqx mine o
ok '--resume where nothing is begins' trains 0 fresh --resume --max-steps 1
ok '  and says so' says 'fresh: no checkpoint yet: beginning with step 0'
mkdir mine; echo mine > mine/note
ok 'failing before the first step' trains_with target=fail@0 2 mine
ok '  leaves a folder as it was' test "`ls mine`" = note
ok 'failing before the first step' trains_with prefetch=fail@0 2 new
ok '  leaves no folder' lacks new

# Other outputs.
ok 'metrics in no folder' output_refused \
  'a/m.jsonl: No such file or directory' new --metrics a/m.jsonl
ok '  and nothing was begun' lacks new
ok 'metrics that cannot be written' \
  trains 2 full --metrics /dev/full --max-steps 50
ok '  are named' says '^dflash-train: /dev/full: No space left on device$'
ok '  and the run can go on' trains 0 full --resume --max-steps 50
ok 'statistics that cannot be written' \
  trains 2 o --overwrite --max-steps 1 --stats=a/stats.json
ok '  are named' says '^dflash-train: a/stats.json: No such file or dir'
ok '  behind the drafter' test -f o/drafter/model.safetensors
