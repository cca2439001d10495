// SPDX-License-Identifier: Apache-2.0
// Makes the page of its blocks (the JSON "etprof-page", written by html_blocks.c). A block belongs to the sections, folds
// and drawers before it. All texts are put in as text, never as markup; words that are the id of a drawer become links.
(function () {
  'use strict';
  var TALL = 24; // rows from which a table scrolls under a fixed header
  var LONG = 40; // characters from which a text is a sentence, and takes several lines
  var WORDS = {info: 'Note', good: 'OK', warn: 'Warning', bad: 'Problem'};

  var page = JSON.parse(document.getElementById('etprof-page').textContent);
  var main = document.querySelector('main'), first = main.querySelector('.first'), later = main.querySelector('.later');
  // What the writer made, in the order of the blocks that say where it goes.
  var written = Array.from(first.children).concat(Array.from(later.children)).filter(function (e) {
    return !e.matches('.first > :is(.cards, details, .actions, .facts)');
  });
  var drawers = Object.create(null), ids = Object.create(null), heading = document.title;
  page.blocks.forEach(function (b) { if (b.kind === 'drawer') drawers[b.id] = true; });

  // With everything but letters, digits, '-' and '_' replaced: fit for an attribute and a link.
  function clean(id) { return id.replace(/[^A-Za-z0-9_-]/g, '-'); }

  function put(parent, tag, attributes, text) {
    var e = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) {
      if (attributes[name] !== '') e.setAttribute(name, attributes[name]);
    });
    if (text) e.textContent = text;
    return parent.appendChild(e);
  }

  // Of words that are ids of drawers in this scope: "op12" in "pair-2" is "pair-2-op12".
  function within(scope, word) { return scope ? scope + '-' + word : word; }

  // Words are found, not marked by authors: a finding that says "op12" in its sentence is a link without knowing of
  // pages. "(NC, F32)" is a data type, not the finding F32.
  function linked(parent, text, scope) {
    var words = /[()]|[A-Za-z0-9_\u0080-\uffff]+/g, depth = 0, from = 0, found;
    while ((found = words.exec(text))) {
      var word = found[0], typed = depth > 0 && word.length > 1 && !/[A-Za-z]/.test(word[1]);
      if (word === '(') depth++;
      else if (word === ')') depth--;
      else if (!typed && drawers[within(scope, word)]) {
        parent.appendChild(document.createTextNode(text.slice(from, found.index)));
        put(parent, 'a', {href: '#' + clean(within(scope, word))}, word);
        from = words.lastIndex;
      }
    }
    parent.appendChild(document.createTextNode(text.slice(from)));
    return parent;
  }

  // The texts of an element of the writer's, with links in them.
  function relink(element, scope) {
    Array.from(element.childNodes).forEach(function (node) {
      if (node.nodeType !== 3) return;
      element.replaceChild(linked(document.createDocumentFragment(), node.data, scope), node);
    });
  }

  // A command's words, quoted ones whole, each in an element: a line is broken between them. Blanks between them stay
  // text, so what is copied is the command as it was.
  function command(parent, text) {
    text.split(/( +)(?=(?:[^']*'[^']*')*[^']*$)/).forEach(function (part) {
      if (/^ *$/.test(part)) parent.appendChild(document.createTextNode(part));
      else put(parent, 'span', {}, part);
    });
  }

  // Two elements of one id would make links lead to the first of them.
  function own(id, ordinal) {
    id = clean(id);
    if (ids[id]) id += '-' + ordinal;
    ids[id] = true;
    return id;
  }

  function cell(row, tag, c, column, b) {
    var parts = Array.isArray(c) ? c : [c], shown = parts[0], raw = parts[1], number = raw !== undefined && raw !== null;
    var words = [], code = column.code && !b.total && !parts[4], e = put(row, tag);
    if (tag === 'th') e.scope = 'row';
    if (column.figures && !number) words.push('n');
    if (parts[2]) words.push(parts[2]);
    if (c === null) words.push('none');
    else if (!number && !column.code && Array.from(shown).length >= LONG) words.push('long');
    if (parts[3]) words.push('k' + parts[3]);
    if (words.length) e.className = words.join(' ');
    if (number) e.setAttribute('data-v', raw);
    if (number && column.most && !b.total) e.setAttribute('style', '--w:' + Math.round(Math.abs(raw) / column.most * 100) + '%');
    if (c === null) {
      e.textContent = b.total ? '' : '–';
      return;
    }
    if (tag === 'th' && b.link && drawers[b.link]) e = put(e, 'a', {href: '#' + clean(b.link)});
    if (code || e.tagName === 'A') (code ? put(e, 'code') : e).textContent = shown;
    else linked(e, shown, b.scope);
  }

  function table(parent, b, ordinal) {
    var figure = put(parent, 'figure', {'class': 'table'}), name = 'k' + ordinal;
    var box = put(figure, 'div', {'class': b.rows.length >= TALL ? 'box tall' : 'box', tabindex: 0, role: 'region',
      'aria-labelledby': name});
    var t = put(box, 'table'), caption = put(t, 'caption', {id: name, 'class': b.caption ? '' : 'unseen'});
    put(caption, 'span', {}, b.caption || heading);
    var heads = put(put(t, 'thead'), 'tr'), bodies = [put(t, 'tbody'), null];
    b.columns.forEach(function (c) {
      var th = put(heads, 'th', {scope: 'col', 'class': c.figures ? 'n' : '', title: c.help || ''}, c.title);
      if (c.sort) th.setAttribute('data-sort', c.sort);
      if (c.choice) th.setAttribute('data-choice', '');
      if (c.unit) {
        th.appendChild(document.createTextNode(' '));
        put(th, 'span', {'class': 'u'}, c.unit);
      }
    });
    b.rows.forEach(function (r) { // totals have a body of their own, which sorting leaves where it is
      if (r.total && !bodies[1]) bodies[1] = put(t, 'tbody', {'class': 'total'});
      var row = put(bodies[r.total ? 1 : 0], 'tr');
      r.cells.forEach(function (c, k) { cell(row, k ? 'td' : 'th', c, b.columns[k], r); });
    });
    if (b.of) {
      var shown = b.rows.filter(function (r) { return !r.total; }).length;
      put(parent, 'p', {'class': 'left'}, 'The first ' + shown + ' of ' + b.of + ' rows, to keep this page small.');
      shorten();
    }
  }

  function keys(parent, b) {
    if (b.title) put(parent, 'p', {}, b.title);
    var list = put(parent, 'dl', {'class': 'keys'});
    b.pairs.forEach(function (pair) { // ids in it are those of the answer that its author spoke of
      linked(put(list, 'dt', {'class': pair.severity || ''}), pair.key, pair.scope);
      linked(put(list, 'dd', {'data-h': pair.runs || ''}), pair.value, pair.scope);
    });
  }

  function code(parent, b) {
    var figure = put(parent, 'figure', {'class': 'code'});
    if (b.caption) put(figure, 'figcaption', {}, b.caption);
    var place = put(put(figure, 'pre', {tabindex: 0}), 'code');
    if (b.line) command(place, b.text);
    else place.textContent = b.text;
  }

  function text(parent, b) {
    var p = put(parent, 'p', {'class': b.severity ? 'note ' + b.severity : ''});
    if (b.severity) {
      put(p, 'b', {}, WORDS[b.severity]);
      p.appendChild(document.createTextNode(' '));
    }
    linked(p, b.text, b.scope);
  }

  // ---- sections ----

  function isMain(b) { return b.kind === 'section' && b.level === 1 && !b.inner; }

  function item(list, b, name) {
    var a = put(put(list, 'li'), 'a', {href: '#' + b.name});
    if (name) put(a, 'b', {}, name);
    else a.textContent = b.text;
  }

  // The parts that a list shows: the main sections behind it, up to the first that is not a part.
  function partsOf(at) {
    var parts = [];
    for (var i = at + 1; i < page.blocks.length; i++) {
      if (isMain(page.blocks[i]) && !page.blocks[i].part) break;
      if (isMain(page.blocks[i])) parts.push(page.blocks[i]);
    }
    return parts;
  }

  // Once each: names are what links need, so they are found before anything is made. A list of one part would be a
  // choice without a choice.
  page.blocks.forEach(function (b, i) {
    if (b.kind === 'section') b.name = own(b.id, i);
    if (b.parts && partsOf(i).length < 2) b.kind = 'none';
  });

  function navigate(list) { // parts that are chosen among have a list of their own
    var listed = false;
    page.blocks.forEach(function (b) {
      if (isMain(b)) {
        listed = Boolean(b.parts || (listed && b.part));
        if (!listed || !b.part) item(list, b);
      } else if (b.kind === 'section' && b.level === 2 && b.tab && !b.inner) item(list, b);
    });
  }

  // What is open, from the outside in; shut: the details of a section.
  var at = {tab: 0, tabs: null, section: null, shut: null, level: 0, drawer: null, fold: null};
  var root = document.createDocumentFragment(); // of what stands before the first section
  var answer = null, told = false; // the heading of the answer that the blocks are of; whether it was said to be short

  function place() { return at.fold || at.drawer || at.shut || at.section || at.tabs || root; }

  // What came before the first section goes before what to do next.
  function open() {
    first.insertBefore(root, first.querySelector('.actions, .facts'));
    root = main;
  }

  // Ends what the block is no part of.
  function leave(b) {
    var turns = (b.tab || 0) !== at.tab, section = b.kind === 'section', breaks = turns || section || b.kind === 'drawer';
    if (breaks || b.kind === 'fold') at.fold = null;
    if (turns || b.kind === 'drawer' || section && !b.inner && b.level <= at.level) {
      at.shut = null;
      at.level = 0;
    }
    if (breaks) at.drawer = null;
    if (turns || isMain(b)) at.section = null;
    if (!turns) return;
    if (b.tab === 1) tabs();
    at.tab = b.tab || 0;
    at.tabs = b.tab ? put(main, 'div', {'class': 'tab'}) : null;
  }

  function tabs() {
    var list = put(main, 'ul', {'class': 'tabs'}), last = 0;
    page.blocks.forEach(function (b) {
      if (b.kind === 'section' && b.tab > last) item(list, b, page.tabs[(last = b.tab) - 1]);
    });
  }

  function section(b, i) {
    var begins = b.part || b.tab && (!answer || answer.tab !== b.tab), parent = place();
    heading = b.text;
    told = false;
    if (isMain(b)) parent = at.section = put(parent, 'section', {'class': b.part ? 'part' : ''});
    if (b.folded) {
      at.shut = put(parent, 'details', {'class': 'shut'});
      at.level = b.level;
      parent = put(at.shut, 'summary');
    }
    var title = put(parent, 'h' + (b.level + 1 + (b.inner ? 1 : 0)), {id: b.name}, b.text);
    if (b.parts) {
      var list = put(place(), 'ul', {'class': 'answers'});
      partsOf(i).forEach(function (part) { item(list, part); });
    }
    if (begins || isMain(b) && !b.tab) answer = begins ? {tab: b.tab, title: title, command: b.command} : null;
  }

  // Says once of an answer that it is shortened, below its heading.
  function shorten() {
    if (!answer || answer.told) return;
    answer.told = true;
    var e = put(document.createDocumentFragment(), 'div', {'class': 'short'});
    put(e, 'p', {}, 'This page has ' + page.answers + ' answers, so this one is shortened: where something is left out, ' +
      'it says so.' + (answer.command ? ' All of it:' : ''));
    if (answer.command) command(put(put(e, 'div', {'class': 'copy'}), 'code'), answer.command);
    answer.title.parentNode.insertBefore(e, answer.title.nextSibling);
  }

  function drawer(b) {
    var e = at.drawer = put(place(), 'section', {'class': 'drawer', id: clean(b.id)});
    var shown = b.scope ? b.id.slice(b.scope.length + 1) : b.id; // its scope is not shown
    heading = b.text;
    put(e, 'h3', {}, shown + ' ' + b.text);
    if (b.of) put(e, 'p', {'class': 'subtitle'}, b.of);
  }

  function make(b, i) {
    if (b.kind === 'left') { // said once for each section
      if (!told) put(place(), 'p', {'class': 'left'}, 'Left out here, to keep this page small.');
      told = true;
      shorten();
    } else if (b.kind === 'fold') put(at.fold = put(place(), 'details', {'class': 'fold'}), 'summary', {}, b.text);
    else if (b.kind === 'placed') place().appendChild(written.shift());
    else {
      var tracks = (b.data.tracks || []).map(function (t) { return t.spans; });
      [].concat.apply(b.data.boxes || b.data.points || [], tracks).forEach(function (e) {
        e.link = drawers[e.link] ? clean(e.link) : '';
      });
      var figure = window.etprofPictures[b.picture](b.data, i);
      if (figure) place().appendChild(figure);
    }
  }

  var KINDS = {section: section, drawer: drawer, text: function (b) { text(place(), b); },
    code: function (b) { code(place(), b); }, keys: function (b) { keys(place(), b); },
    table: function (b, i) { table(place(), b, i); }, none: function () {}};

  first.querySelectorAll('.note, :scope > p').forEach(function (p) { relink(p, ''); });
  document.querySelectorAll('.actions li').forEach(function (li) {
    var scope = li.getAttribute('data-scope') || '', id = li.querySelector('.id');
    li.querySelectorAll('.what, .advice').forEach(function (p) { relink(p, scope); });
    li.querySelectorAll('code').forEach(function (e) {
      var text = e.textContent;
      e.textContent = '';
      command(e, text);
    });
    if (!drawers[within(scope, id.textContent)]) return;
    var a = document.createElement('a');
    a.className = 'id';
    a.href = '#' + clean(within(scope, id.textContent));
    a.textContent = id.textContent;
    id.parentNode.replaceChild(a, id);
  });
  navigate(document.querySelector('nav ul'));
  page.blocks.forEach(function (b, i) {
    if (b.kind === 'none') return;
    if (b.kind === 'section' && root !== main) open();
    leave(b);
    (KINDS[b.kind] || make)(b, i);
  });
  if (root !== main) open();
  main.querySelectorAll('details.fold').forEach(function (fold) { if (fold.children.length < 2) fold.remove(); });
  if (page.details_left_out) {
    var left = put(at.section || main, 'p', {'class': 'left'}, 'To keep this page small it has ' +
      (page.details - page.details_left_out) + ' of ' + page.details + ' details. ');
    put(left, 'code', {}, 'etprof explain');
    left.appendChild(document.createTextNode(' shows each.'));
  }
  later.remove();
})();
