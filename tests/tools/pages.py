# SPDX-License-Identifier: Apache-2.0
"""What a page of the program holds before its scripts run: markup, and the blocks that they make the rest of."""
import html
import json
import re


def document(page):
    return json.loads(re.search(r'<script type="application/json" id="etprof-page">(.*?)</script>', page, re.S)[1])


def blocks(page):
    return document(page)["blocks"]


def markup(page):
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)


def strings(value):
    """Every text in what JSON holds, in order; not the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def words(page):
    """All that is read on the page, texts of pictures left out."""
    plain = re.sub(r"<[^>]*>", " ", re.sub(r"<svg.*?</svg>", "", markup(page), flags=re.S))
    return "\n".join([html.unescape(plain), *strings(blocks(page))])


def section(page, identity):
    """The blocks from the section of this id on, up to the next main one; it first."""
    found = blocks(page)
    at = next((i for i, b in enumerate(found) if b["kind"] == "section" and b["id"] == identity), len(found))
    end = next((i for i in range(at + 1, len(found)) if found[i]["kind"] == "section" and found[i]["level"] == 1 and
                not found[i].get("inner")), len(found))
    return found[at:end]


def shown(cell):
    """The text of a table's cell, "" where nothing is known."""
    return cell[0] if isinstance(cell, list) else cell or ""


def placed(page):
    """Markup of charts and things to do behind the first section, by the index of the block that says where it goes."""
    found = blocks(page)
    first = next((i for i, b in enumerate(found) if b["kind"] == "section"), len(found))
    later = page.split('<div class="later">', 1)[1].split("</main>", 1)[0]
    made = re.findall(r'<figure class="chart">.*?</figure>|<section class="actions".*?</section>|'
                      r'<script type="application/json".*?</script>', later, re.S)
    places = [i for i in range(first, len(found)) if found[i]["kind"] == "placed"]
    assert len(places) == len(made), (places, len(made))
    return dict(zip(places, made))


def drawers(page):
    """Of each drawer its title, the values of its keys and all of its words, by its id."""
    found, one = {}, None
    for b in blocks(page):
        if b["kind"] == "drawer":
            one = found[b["id"]] = {"title": b["text"], "keys": {}, "words": b["text"] + "\n"}
        elif b["kind"] == "section":
            one = None
        elif one:
            one["words"] += "\n".join(strings({k: v for k, v in b.items() if k != "kind"})) + "\n"
            one["keys"].update((pair["key"], pair["value"]) for pair in b.get("pairs", []))
    return found
