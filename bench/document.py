"""document.py - puts tables that the benchmarks printed into a document, each
between the comments that name its part. Usage: document.py FOLDER DOCUMENT
"""
import pathlib
import re
import sys

folder, document = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def printed(match):
    found = folder / f"{match['part']}.md"
    if not found.exists():
        print(f"{document}: {match['part']} stays as it is: there is no {found}")
        return match[0]
    return f"{match['begin']}\n\n{found.read_text().strip()}\n\n{match['end']}"


text = document.read_text()
parts = r"(?P<begin><!-- bench-(?P<part>\w+) -->).*?(?P<end><!-- end -->)"
text, count = re.subn(parts, printed, text, flags=re.DOTALL)
if count == 0:
    sys.exit(f"{document}: no comment names a part")
document.write_text(text)
