// A judge's reply while it is being written, as people read it: from JSON that has no end yet, piece by piece.
// The same as refinement/judging/parsing/under_way.py, which reads it for pages as they are loaded; each sign is
// looked at once, and what a model wrote only ever becomes text.
const verdictReader = (place) => {
  const MOST_DEEP = 8;
  const MOST_VALUES = 400;
  const MOST_SIGNS = 200000; // a page has room for no more
  const LEAD = /^\s*(?:<(think|thinking|reasoning|thought)>[^]*?<\/\1>\s*)?(?:```[a-z]*\s*)?(?=\{)/i;
  const MAY_LEAD = /^\s*(?:<[a-z]{0,9}$|<(?:think|thinking|reasoning|thought)>|`{1,3}[a-z]*\s*$|$)/i;
  const STOP = /["\\]/g;
  const ESCAPES = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
  const AROUND = ["criteria", "scores"];
  const NAMES = ["name", "key", "criterion"];
  const TITLES = new Map([["asi", "ASI"], ["issues", "Issues"]]);
  const LABELS = new Map([["reasoning", ""], ["reason", ""], ["improvement", "To improve:"]]);

  // --- what is shown ------------------------------------------------------------------------------
  const entries = new Map();
  const made = (name, look, words = "") => {
    const element = document.createElement(name);
    element.className = look;
    element.textContent = words;
    return element;
  };
  const titled = (key) => {
    const words = /^[0-9]+$/.test(key) ? "" : key.replaceAll("_", " ");
    return TITLES.get(key) ?? words.slice(0, 1).toUpperCase() + words.slice(1);
  };

  const entryOf = (criterion, key) => {
    const name = `${criterion} ${key}`;
    if (!entries.has(name)) {
      const [item, head] = [made("li", "live-entry"), made("p", "live-entry-head")];
      const entry = { item, title: made("bdi", "", titled(key)), score: made("b", "num") };
      head.append(entry.title, " ", entry.score);
      item.append(head);
      place.append(item);
      entries.set(name, entry);
    }
    return entries.get(name);
  };

  // Where the text of a value goes as it comes.
  const begin = (path, quoted) => {
    const criterion = path.length > 1 && AROUND.includes(path[0]);
    const [key, ...rest] = criterion ? path.slice(1) : path;
    const entry = entryOf(criterion, key);
    const last = rest.at(-1) ?? "";
    if (last === "score" || (!rest.length && !quoted)) {
      entry.score.textContent = "";
      return (words) => entry.score.append(words);
    }
    if (criterion && NAMES.includes(last)) {
      let name = "";
      return (words) => (entry.title.textContent = titled((name += words)));
    }
    let text = null;
    return (words) => {
      if (!text) {
        const part = made("p", "live-part");
        const label = LABELS.get(last) ?? (titled(last) && `${titled(last)}:`);
        if (label) part.append(made("span", "soft", label), " ");
        const said = made("span", "text-block");
        said.dir = "auto";
        said.append((text = document.createTextNode("")));
        part.append(said);
        entry.item.append(part);
      }
      text.appendData(words);
    };
  };

  // --- what is read -------------------------------------------------------------------------------
  const opened = [];
  let wanted = "lead"; // then value, key, colon, after, string, bare, over; or wrong
  let lead = "";
  let escape = null;
  let key = null; // the name being written, where a string is one
  let count = 0;
  let length = 0;
  let say = null;

  const started = (quoted) => {
    count += 1;
    if (count > MOST_VALUES) return false;
    say = begin(opened.map((entry) => (entry.list ? String(entry.count) : entry.key)), quoted);
    return true;
  };
  const write = (words) => {
    if (key === null) say(words);
    else key += words;
  };
  const afterSign = (sign) => {
    const inside = opened.at(-1);
    if (sign === ",") {
      inside.count += 1;
      return inside.list ? "value" : "key";
    }
    if (sign !== (inside.list ? "]" : "}")) return "wrong";
    opened.pop();
    return opened.length ? "after" : "over";
  };
  const escaped = (sign) => {
    if (!escape && sign === "u") escape = "u";
    else if (!escape) {
      write(ESCAPES[sign] ?? sign);
      escape = null;
    } else {
      escape += sign;
      if (escape.length < 5) return;
      if (/^u[0-9a-f]{4}$/i.test(escape)) write(String.fromCharCode(parseInt(escape.slice(1), 16)));
      escape = null;
    }
  };

  const signs = {
    value: (sign) => {
      if (sign === "{" || sign === "[") {
        opened.push({ list: sign === "[", key: "", count: 0 });
        if (opened.length > MOST_DEEP) return "wrong";
        return sign === "[" ? "value" : "key";
      }
      if (sign === "]" && opened.at(-1).list) return afterSign(sign);
      if (sign === "}" || sign === "]" || sign === "," || !started(sign === '"')) return "wrong";
      key = null;
      if (sign === '"') return "string";
      say(sign);
      return "bare";
    },
    key: (sign) => {
      if (sign === '"') {
        key = "";
        return "string";
      }
      if (sign === ",") return "key";
      return sign === "}" ? afterSign(sign) : "wrong";
    },
    colon: (sign) => (sign === ":" ? "value" : "wrong"),
    after: afterSign,
  };

  const scan = (piece) => {
    let at = 0;
    while (at < piece.length && wanted !== "over" && wanted !== "wrong") {
      const sign = piece[at];
      if (wanted === "string") {
        if (escape !== null) escaped(sign);
        else if (sign === "\\") escape = "";
        else if (sign === '"' && key !== null) {
          opened.at(-1).key = key;
          wanted = "colon";
        } else if (sign === '"') wanted = "after";
        else {
          STOP.lastIndex = at;
          const words = piece.slice(at, STOP.exec(piece)?.index);
          write(words);
          at += words.length - 1;
        }
      } else if (wanted === "bare") {
        if (/[\s,{}[\]"]/.test(sign)) {
          wanted = "after";
          continue;
        }
        say(sign);
      } else if (!/\s/.test(sign)) wanted = signs[wanted](sign);
      at += 1;
    }
  };

  return {
    // Whether all that came so far can be read; what came first stays in doubt until the object begins.
    feed: (piece) => {
      length += piece.length;
      if (length > MOST_SIGNS) wanted = "wrong";
      else if (wanted !== "lead") scan(piece);
      else {
        lead += piece;
        const found = piece.includes("{") && LEAD.exec(lead);
        if (found) {
          wanted = "value";
          scan(lead.slice(found[0].length));
        } else if (!MAY_LEAD.test(lead)) wanted = "wrong";
      }
      return wanted !== "lead" && wanted !== "wrong" && entries.size > 0;
    },
  };
};
