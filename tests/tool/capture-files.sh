# What others read in the files, how large these are, and what was said of
# that before.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
plan 36
conversations 1 60 > data.jsonl

# All samples by their index: ids, mask, states side by side, last state.
cat > read.py <<'END_OF'
import json, struct, sys, glob, os
import numpy as np

def image(data):
    n = struct.unpack('<Q', data[:8])[0]
    head = json.loads(data[8:8 + n])
    types = {'BF16': '<u2', 'I32': '<i4', 'I64': '<i8', 'U8': 'u1',
             'U64': '<u8'}
    out = {}
    for name, t in head.items():
        if name != '__metadata__':
            a, b = t['data_offsets']
            out[name] = np.frombuffer(data[8 + n + a:8 + n + b],
                                      types[t['dtype']]).reshape(t['shape'])
    return head['__metadata__'], out

def side_by_side(t):
    if 'hidden_states' in t:
        return t['hidden_states']
    names = sorted(n for n in t if n.startswith('hidden_states.'))
    return np.concatenate([t[n] for n in names], axis=1)

def stream(path):
    with open(path, 'rb') as f:
        assert f.readline().startswith(b'dflash-stream 1 ')
        while True:
            size = struct.unpack('<Q', f.read(8))[0]
            if size == 0:
                count = struct.unpack('<Q', f.read(8))[0]
                assert not f.read(), 'data behind the end'
                return
            data = f.read(size)
            if 'safetensors' in sys.argv:
                from safetensors import deserialize
                theirs = dict(deserialize(data))
                for name, t in image(data)[1].items():
                    assert bytes(theirs[name]['data']) == t.tobytes()
                    assert theirs[name]['shape'] == list(t.shape)
            meta, t = image(data)
            yield int(meta['index']), t

def hdf5(path):
    import h5py
    with h5py.File(path, 'r') as f:
        sets = {}
        f.visititems(lambda n, o: sets.__setitem__(n, o[()])
                     if isinstance(o, h5py.Dataset) else None)
    at = sets.pop('offsets')
    rows = {n: v for n, v in sets.items()
            if n in ('input_ids', 'loss_mask', 'last_hidden_states')
            or n.startswith('hidden_states')}
    for i, index in enumerate(sets['indices']):
        yield int(index), {n: v[at[i]:at[i + 1]] for n, v in rows.items()}

def folder(path):
    rows = {}
    for line in open(os.path.join(path, 'data.jsonl')):
        row = json.loads(line)
        rows[row['index']] = row
    for name in glob.glob(os.path.join(path, 'hs_*.safetensors')):
        index = int(name.split('hs_')[-1].split('.')[0])
        _, t = image(open(name, 'rb').read())
        states = t['hidden_states']
        assert list(t['token_ids']) == rows[index]['input_ids']
        yield index, {
            'input_ids': t['token_ids'].astype('<i4'),
            'loss_mask': np.array(rows[index]['loss_mask'], 'u1'),
            'hidden_states': states[:, :-1].reshape(len(states), -1)}

def read(path):
    if os.path.isdir(path):
        return dict(folder(path))
    with open(path, 'rb') as f:
        start = f.read(8)
    return dict(hdf5(path) if start == b'\x89HDF\r\n\x1a\n' else stream(path))

a, b = read(sys.argv[1]), read(sys.argv[2])
assert sorted(a) == sorted(b) and len(a) == int(sys.argv[3]), (len(a), len(b))
for index in a:
    for name in 'input_ids', 'loss_mask':
        assert np.array_equal(a[index][name], b[index][name]), (index, name)
    x, y = side_by_side(a[index]), side_by_side(b[index])
    assert x.shape == y.shape and x.size and np.array_equal(x, y), index
    assert len(np.unique(x)) > 50, index
END_OF
for layout in packed split; do
  ok "HDF5, $layout" captures 0 $layout.h5 --layout $layout
  ok "a stream, $layout" captures 0 $layout.dfs --layout $layout
done
ok 'a folder' captures 0 folder/
ok 'HDF5, with the last hidden state' captures 0 last.h5 --last-hidden
for file in packed.h5 split.h5 last.h5 packed.dfs split.dfs folder; do
  if ! python_has numpy; then
    skip_rest 1 'python3 has no numpy'
  elif test "${file%.h5}" != "$file" && ! python_has h5py; then
    skip_rest 1 'python3 has no h5py'
  else
    ok "Python reads $file and sees the bits of the stream" \
      run 0 python3 read.py $file split.dfs 60
  fi
done
if python_has numpy safetensors; then
  ok 'safetensors reads the samples of a stream' \
    run 0 python3 read.py packed.dfs split.dfs 60 safetensors
else
  skip_rest 1 'python3 has no safetensors'
fi

# Stalled copies and buffers that are taken again early can't be seen.
for layout in packed split; do
  check () {
    DFLASH_FAULT=copy=stall:5,postprocess=stall:5 captures 0 stalled.dfs \
      --layout $layout --target-postprocess-depth 3 --overwrite &&
      cmp stalled.dfs $layout.dfs
  }
  ok "with stalls, $layout, every byte is the same" check
done
check () {
  DFLASH_FAULT=target=stall:5,write=stall:5 captures 0 stalled.dfs \
    --target-devices cpu:0,cpu:1 --prefetch-threads 1 --overwrite &&
    cmp stalled.dfs split.dfs
}
ok 'and with two targets' check

# What a failing stage leaves.
for stage in prefetch target postprocess write; do
  check () {
    DFLASH_FAULT=$stage=fail@12 captures 2 failed.h5 --flush-every 1 \
      --overwrite && says "^dflash-capture: $stage: failure injected at num"
  }
  ok "a failure in $stage is told" check
  check () {
    captures 0 failed.h5 --resume && offline 0 o failed.h5 --overwrite
  }
  ok '  and what was written is whole' check
done
ok 'no more memory is taken than was planned' captures 0 - --stats
ok '  during the run' says '^allocations after warm-up: 0$'

# Space.
size_of () { wc -c < "$1"; }
estimate () { # FILE OPTION...
  captures 0 "$@" --estimate
  sed -n 's/^in all: \([0-9]*\) bytes.*/\1/p' out
}
for file in packed.h5 split.h5 packed.dfs split.dfs; do
  check () {
    bytes=`estimate new.${file#*.} --layout ${file%.*}`
    echo "# $bytes estimated, `size_of $file` taken"
    test "$bytes" -ge `size_of $file` && lacks new.h5
  }
  ok "the estimate for $file is enough" check
done
ok 'the estimate for a folder' captures 0 new/ --estimate
ok '  is enough' test "`sed -n 's/^in all: \([0-9]*\) .*/\1/p' out`" -ge \
  `cat folder/* | wc -c`
ok '  and makes nothing' lacks new
ok 'a stream has 2KH + 8K + 5 bytes a token, and 2 % at most' test \
  `size_of split.dfs` -le \
  `expr '(' 2 '*' 2 '*' 256 + 8 '*' 2 + 5 ')' '*' 2345 '*' 102 / 100`
ok 'the estimate says whether they fit' captures 0 new.h5 --estimate
ok '  in words' grep -q '^free: [0-9]* bytes (.*): they fit$' out
