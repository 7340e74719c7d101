"""Texts for tests of planted copies."""

from hypothesis import strategies as st

ENGLISH = """# Upgrade notes

Version 4.2 was released in 2021 and supports 12,500 users. It is often used, for example, in big teams. See \
https://example.com/v4.2/docs for details. "Always back up," said Dr. Smith. The server does not restart \
on its own -- you must restart it with `wiggum up 3`.

The old format can be read for 30 days. After that, files are deleted. About 45% of users have \
already moved, and it's roughly what we expected; nobody can say why. \
A team that moved early has reported no problems.

## Steps

1. Stop the server.
2. Copy the data to a safe place with `cp -r 1 2`.
3. Run the migration and wait for 10 minutes.
4. Start the server.

```python
x = 5  # is not changed, 42
print("hello -- world")
```

| Name | Count |
|---|---|
| Users | 120 |

Support is **available** from 9 to 5. The team will answer within two days. Questions are welcome.
"""
GERMAN = """Der Server wurde 2021 eingeführt. Er unterstützt 12 Nutzer und ist schnell. Das Team hat lange \
daran gearbeitet.

Es gibt keinen Grund zur Sorge. Die Daten sind sicher und werden täglich kopiert.

Am Ende steht ein Fazit. Es ist kurz.
"""
CHINESE = (
    "这个版本于2021年发布。它支持12个用户。速度非常快。\n\n"
    "数据是安全的。团队很高兴。\n\n最后是结论。它很短。\n"
)

VOCABULARY = (
    "the server is often not large and can read 42 files; it's “fine” — for example a-b can't "
    + 'v1.2 état 数据 don’t "quoted" big team has been sure... x_1 9% 3,000 must will always never '
    + "`code 7` <b> # * > 1. - | ~~~ https://a.example/7-x_(y) mail@x.example [a](b.md) **bold** "
    + "\\( x \\) $$ y $$"
)
WORDS = st.sampled_from(VOCABULARY.split(" "))
LINES = st.lists(WORDS, min_size=1, max_size=18).map(" ".join)
MARKS = st.sampled_from(
    ["", "", "", "# ", "- ", "1. ", "2. ", "> ", "    ", "| ", "\t", "* * *", "```", "~~~", "---"]
)
ENDS = st.sampled_from([".\n\n", ". ", "?\n", "\n", "\n\n", "!\n\n", ".\n\n\n", "  \n", ""])
BLOCKS = st.tuples(MARKS, LINES, ENDS).map("".join)
MARKDOWN = st.lists(BLOCKS, max_size=14).map("".join)
ANYTHING = st.one_of(MARKDOWN, st.text(max_size=300), st.sampled_from([ENGLISH, GERMAN, CHINESE]))
