# deja lab: counts depend only on the seed, not on the number of threads.
. "$SUPPORT/cli.sh"

# All experiments that measure neither time nor memory.
names=(hashes single temporal spatial spatiotemporal layered split cache spectral unknown-n)
for j in 1 4; do
    succeeds deja lab -q "${names[@]}" -n 2k --runs 2 -j "$j" --output "j$j"
done
for name in "${names[@]}"; do
    expect_same "j1/$name.csv" "j4/$name.csv"
done

succeeds deja lab -q single -n 2k --runs 2 --seed 2 --output other
! cmp -s j1/single.csv other/single.csv || fail "another seed gives the same figures"
