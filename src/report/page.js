// SPDX-License-Identifier: Apache-2.0
// Comfort only: theme switch, sorting, filtering, copying.
(function () {
  'use strict';
  var root = document.documentElement;

  function make(tag, text, label) {
    var e = document.createElement(tag);
    if (text) e.textContent = text;
    if (label) e.setAttribute('aria-label', label);
    return e;
  }

  function recall(value) { // storage may be forbidden for local files
    try {
      if (value) localStorage.setItem('etprof-theme', value);
      return localStorage.getItem('etprof-theme');
    } catch (e) { return null; }
  }

  function isDark() {
    var chosen = root.getAttribute('data-theme');
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  }

  var theme = recall();
  if (theme === 'dark' || theme === 'light') root.setAttribute('data-theme', theme);
  var toggle = make('button', isDark() ? 'Light' : 'Dark', 'Switch between light and dark');
  toggle.onclick = function () {
    var next = isDark() ? 'light' : 'dark';
    root.setAttribute('data-theme', next);
    recall(next);
    toggle.textContent = isDark() ? 'Light' : 'Dark';
  };
  document.querySelector('nav').appendChild(toggle);

  // Parts: one of several answers is shown at a time, by its tab, or, where they are many, by a
  // choice. An address within a part shows it.
  document.querySelectorAll('ul.answers').forEach(function (list) {
    var links = Array.prototype.slice.call(list.querySelectorAll('a')), many = links.length > 5, select = many && make('select', '', 'Answer shown');
    var parts = links.map(function (a) { return document.getElementById(a.hash.slice(1)).parentNode; });
    function show(at) {
      parts.forEach(function (part, i) {
        part.hidden = i !== at;
        if (many) return;
        links[i].setAttribute('aria-selected', i === at);
        links[i].setAttribute('tabindex', i === at ? 0 : -1);
      });
      if (many) select.value = at;
      parts[at].querySelectorAll('.graph').forEach(function (g) { if (g.fit) g.fit(); });
    }
    function go(at) {
      show(at);
      history.replaceState(null, '', links[at].hash);
    }
    function come() {
      var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      var at = parts.findIndex(function (part) { return part.contains(target); });
      if (at < 0 || !parts[at].hidden) return;
      show(at);
      target.scrollIntoView();
    }
    if (many) {
      links.forEach(function (a, i) { select.appendChild(make('option', a.textContent)).value = i; });
      select.onchange = function () { go(Number(select.value)); };
      list.parentNode.insertBefore(select, list).className = 'answers';
      list.hidden = true;
    } else {
      list.setAttribute('role', 'tablist');
      list.setAttribute('aria-label', list.previousElementSibling.textContent);
      links.forEach(function (a, i) {
        a.parentNode.setAttribute('role', 'presentation');
        a.setAttribute('role', 'tab');
        parts[i].setAttribute('role', 'tabpanel');
        parts[i].setAttribute('aria-label', a.textContent);
        a.onclick = function (event) { event.preventDefault(); go(i); };
        a.onkeydown = function (event) {
          var to = {ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: links.length - 1}[event.key];
          if (!links[to]) return;
          event.preventDefault();
          go(to);
          links[to].focus();
        };
      });
    }
    show(0);
    come();
    addEventListener('hashchange', come);
  });

  function value(row, column, numeric) {
    var cell = row.cells[column];
    if (!numeric) return cell.textContent.toLowerCase();
    var v = cell.getAttribute('data-v');
    return v === null ? null : Number(v);
  }

  function sort(table, th, column) {
    var numeric = th.getAttribute('data-sort') === 'n';
    var now = th.getAttribute('aria-sort');
    // Numbers start with the largest, names with A; a third click restores the report's order.
    var cycle = numeric ? ['descending', 'ascending'] : ['ascending', 'descending'];
    var next = now === cycle[0] ? cycle[1] : now === cycle[1] ? '' : cycle[0];
    var sign = next === 'ascending' ? 1 : -1;
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (a, b) {
      if (!next) return a.order - b.order;
      var x = value(a, column, numeric), y = value(b, column, numeric);
      if (x === y) return a.order - b.order;
      if (x === null) return 1; // missing values stay last
      if (y === null) return -1;
      return x < y ? -sign : sign;
    });
    rows.forEach(function (row) { body.appendChild(row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (c) { c.removeAttribute('aria-sort'); });
    if (next) th.setAttribute('aria-sort', next);
  }

  // The rows that are shown, as RFC 4180: raw values where a cell has one.
  function csv(table) {
    function field(text) { return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; }
    var lines = [Array.prototype.map.call(table.tHead.rows[0].cells, function (th) {
      return field(th.textContent.trim());
    }).join(',')];
    Array.prototype.forEach.call(table.rows, function (row) {
      if (row.parentNode === table.tHead || row.hidden) return;
      lines.push(Array.prototype.map.call(row.cells, function (cell) {
        if (cell.classList.contains('none')) return '';
        return field(cell.hasAttribute('data-v') ? cell.getAttribute('data-v') : cell.textContent);
      }).join(','));
    });
    return lines.join('\n') + '\n';
  }

  function copier(button, text) {
    var title = button.textContent;
    button.onclick = function () {
      navigator.clipboard.writeText(text()).then(function () {
        button.textContent = 'Copied';
        setTimeout(function () { button.textContent = title; }, 1500);
      });
    };
  }

  function addChoice(bar, rows, th, column, renew) {
    var found = {}, select = make('select', '', 'Only one ' + th.textContent);
    rows.forEach(function (row) {
      var text = row.cells[column].textContent;
      if (!row.cells[column].classList.contains('none')) found[text] = (found[text] || 0) + 1;
    });
    var texts = Object.keys(found).sort();
    if (texts.length < 2) return function () { return true; };
    select.appendChild(make('option', 'every ' + th.textContent)).value = '';
    texts.forEach(function (text) {
      select.appendChild(make('option', text + ' (' + found[text] + ')')).value = text;
    });
    select.onchange = renew;
    bar.appendChild(select);
    return function (row) { return !select.value || row.cells[column].textContent === select.value; };
  }

  function addTools(table) {
    var rows = Array.prototype.slice.call(table.tBodies[0].rows);
    if (rows.length < 12) return;
    var bar = make('div'), input = make('input', '', 'Filter rows'), count = make('span', rows.length + ' rows');
    var choices = [];
    function renew() {
      var words = input.value.toLowerCase().split(/\s+/), shown = 0;
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (w) { return text.indexOf(w) >= 0; }) ||
          !choices.every(function (fits) { return fits(row); });
        if (!row.hidden) shown++;
      });
      count.textContent = shown === rows.length ? shown + ' rows' : shown + ' of ' + rows.length + ' rows';
    }
    bar.className = 'tools';
    count.setAttribute('aria-live', 'polite');
    input.type = 'search';
    input.placeholder = 'Filter rows';
    input.oninput = renew;
    bar.appendChild(input);
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th, column) {
      if (th.hasAttribute('data-choice')) choices.push(addChoice(bar, rows, th, column, renew));
    });
    bar.appendChild(count);
    if (navigator.clipboard) {
      var button = bar.appendChild(make('button', 'Copy CSV'));
      copier(button, function () { return csv(table); });
    }
    var figure = table.closest('figure');
    figure.insertBefore(bar, figure.firstChild);
  }

  document.querySelectorAll('table').forEach(function (table) {
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row, i) { row.order = i; });
    addTools(table);
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th, column) {
      if (!th.hasAttribute('data-sort') || table.tBodies[0].rows.length < 2) return;
      th.appendChild(make('button', '', 'Sort by ' + th.textContent));
      th.onclick = function () { sort(table, th, column); }; // the button's click arrives here too
    });
  });

  document.querySelectorAll('figure.code, .copy').forEach(function (place) {
    if (!navigator.clipboard) return;
    var button = make('button', 'Copy'), code = place.querySelector('code').textContent;
    if (place.className === 'copy') button.setAttribute('aria-label', 'Copy: ' + code);
    copier(button, function () { return code; });
    place.appendChild(button);
  });

  // Boxes and spans are short of room: their drawers have the whole name and the times.
  document.addEventListener('pointerover', function (event) {
    var a = event.target.closest && event.target.closest('.spans a, .graph svg a');
    var drawer = a && document.getElementById(a.getAttribute('href').slice(1));
    if (!drawer || a.title || a.querySelector('title')) return;
    var text = [title(drawer.id)], svg = a.closest('svg');
    drawer.querySelectorAll('dl:first-of-type dt').forEach(function (dt, i) {
      if (i < 3) text.push(dt.textContent.trim() + ': ' + dt.nextSibling.firstChild.textContent.trim());
    });
    if (!svg) a.title = text.join('\n');
    else a.insertBefore(document.createElementNS(svg.namespaceURI, 'title'), a.firstChild).textContent = text.join('\n');
  });

  // Spans, boxes and points: one stop of the Tab key for all of a picture, arrows go on from there.
  document.querySelectorAll('.spans .track, .graph svg, .plane svg').forEach(function (place) {
    var links = Array.prototype.slice.call(place.querySelectorAll('a'));
    links.forEach(function (a, i) {
      a.setAttribute('tabindex', i ? -1 : 0);
      if (!a.textContent.trim()) a.setAttribute('aria-label', title(a.getAttribute('href').slice(1)));
    });
    place.addEventListener('keydown', function (event) {
      var step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      var at = links.indexOf(document.activeElement), next = links[at + step];
      if (at < 0 || !next) return;
      event.preventDefault();
      links[at].setAttribute('tabindex', -1);
      next.setAttribute('tabindex', 0);
      next.focus();
    });
  });

  // Graphs: zoom and search. Their colours are choices that need no script.
  document.querySelectorAll('.graph').forEach(function (figure) {
    var svg = figure.querySelector('svg'), box = figure.querySelector('.box'), views = figure.querySelector('.views');
    var width = Number(svg.getAttribute('width')), height = Number(svg.getAttribute('height')), scale = 1;
    function zoom(by) {
      var next = Math.min(4, Math.max(0.05, by ? scale * by : Math.min(1, (box.clientWidth - 24) / width))), grown = next / scale;
      var x = box.scrollLeft + box.clientWidth / 2, y = box.scrollTop + box.clientHeight / 2;
      scale = next;
      svg.setAttribute('width', width * scale);
      svg.setAttribute('height', height * scale);
      box.scrollLeft = x * grown - box.clientWidth / 2;
      box.scrollTop = y * grown - box.clientHeight / 2;
    }
    [['−', 'Smaller', 1 / 1.3], ['+', 'Larger', 1.3], ['Fit', 'Fit the width', 0]].forEach(function (b) {
      views.appendChild(make('button', b[0], b[1])).onclick = function () { zoom(b[2]); };
    });
    var search = make('input', '', 'Find an operator'), count = make('span');
    search.type = 'search';
    search.placeholder = 'Find an operator';
    count.setAttribute('aria-live', 'polite');
    var boxes = Array.prototype.slice.call(svg.querySelectorAll('.n')).map(function (g) {
      return {g: g, text: (title((g.getAttribute('href') || '#').slice(1)) || g.textContent).toLowerCase()};
    });
    search.oninput = function () {
      var word = search.value.trim().toLowerCase(), first = null, hits = 0;
      boxes.forEach(function (b) {
        var hit = word !== '' && b.text.indexOf(word) >= 0;
        b.g.classList.toggle('hit', hit);
        if (hit && !first) first = b.g;
        hits += hit;
      });
      count.textContent = word ? hits + ' found' : '';
      if (first) {
        var at = first.getBoundingClientRect(), own = box.getBoundingClientRect();
        box.scrollTop += at.top - own.top - box.clientHeight / 3;
        box.scrollLeft += at.left - own.left - box.clientWidth / 3;
      }
    };
    views.appendChild(search);
    views.appendChild(count);
    figure.fit = function () { // and no smaller than can be read: what is wider begins in its middle
      zoom(0);
      if (scale < 0.75) zoom(0.75 / scale);
      box.scrollTop = 0;
      box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
    };
    var fold = figure.closest('details.shut'); // else when it is shown
    if (box.clientWidth) figure.fit();
    if (fold) fold.addEventListener('toggle', figure.fit);
  });

  // What if: the arithmetic of `etprof whatif`. An operator keeps its time, has none, that of the
  // baseline, or that of its roof; everything else of an inference stays. Fixes take their gain off.
  var DROP = 1, BACK = 2, ROOF = 3, WORDS = ['', 'drop', 'back', 'at-roof'];

  function whatif(data, changes, fixes) {
    function mean(times, counts, k) { return times[k] / counts[2 * k]; }
    function total(k) { // of recording k − 1; 0: of all
      var sum = data.inference[2 * k + 1] / data.inference[2 * k];
      data.operators.forEach(function (op) {
        var now = mean(op.ns, data.inference, k);
        if (changes[op.id] === DROP) sum -= now;
        else if (changes[op.id] === BACK) sum += mean(op.before, data.before, k) - now;
        else if (changes[op.id] === ROOF) sum -= Math.max(0, now - op.roof);
      });
      return sum;
    }
    var now = data.inference[1] / data.inference[0], then = total(0), ln = [];
    var out = {now: Math.round(now * data.scale), then: Math.round(then * data.scale), speedup: now / then, lo: null, hi: null};
    for (var k = 1; 2 * k + 1 < data.inference.length; k++) {
      var ratio = data.inference[2 * k + 1] / data.inference[2 * k] / total(k);
      if (isFinite(ratio) && ratio > 0) ln.push(Math.log(ratio));
    }
    if (data.factor && ln.length > 1 && 2 * ln.length + 2 === data.inference.length) {
      var middle = ln.reduce(function (a, b) { return a + b; }) / ln.length;
      var spread = ln.reduce(function (a, b) { return a + (b - middle) * (b - middle); }, 0);
      var half = data.factor * Math.sqrt(spread / (ln.length - 1) / ln.length);
      out.lo = Math.exp(middle - half);
      out.hi = Math.exp(middle + half);
    }
    var less = 0, more = 0; // what clocks cut off what is taken away, and what comes instead
    data.operators.forEach(function (op) {
      less += changes[op.id] ? op.cut : 0;
      more += changes[op.id] === BACK ? op.cut_before : 0;
    });
    out.lo = out.lo && out.lo * then / (then + more);
    out.hi = out.hi && out.hi * then / (then - less);
    if (less + more > then / 2) out.speedup = out.lo = out.hi = null;
    out.least = out.then; // with the fixes
    out.likely = out.then;
    out.most = out.then;
    data.fixes.forEach(function (f) {
      if (fixes[f.id] !== true) return;
      out.least -= f.hi;
      out.likely -= f.expected === undefined ? (f.lo + f.hi) / 2 : f.expected;
      out.most -= f.lo;
    });
    return out;
  }

  var time = window.etprofTime;

  function title(id) {
    var drawer = document.getElementById(id);
    return drawer ? drawer.querySelector('h3').textContent : id;
  }

  document.querySelectorAll('script[id$="whatif-data"]').forEach(function (source) {
    var scope = source.id.slice(0, -'whatif-data'.length), heading = document.getElementById(scope + 'whatif');
    if (!heading) return;
    var data = JSON.parse(source.textContent), changes = {}, fixes = {}, place = make('div');
    var sum = make('p'), note = make('p'), command = make('code'), copy = make('div'), lists = make('div');
    place.className = 'whatif';
    sum.className = 'sum';
    sum.setAttribute('aria-live', 'polite');
    copy.className = 'copy';
    function renew() {
      var r = whatif(data, changes, fixes), any = data.fixes.some(function (f) { return fixes[f.id]; });
      var parts = data.operators.filter(function (op) { return changes[op.id]; }).map(function (op) {
        return changes[op.id] === ROOF ? "'" + op.id + " at-roof'" : "'" + WORDS[changes[op.id]] + ' ' + op.id + "'";
      });
      sum.textContent = '';
      sum.appendChild(make('b', time(r.now) + ' → ' + time(any ? r.likely : r.then)));
      var ratio = r.now / (any ? r.likely : r.then), rest = ' ' + ratio.toFixed(2) + '×';
      if (r.speedup === null && !any) rest = ' (a ratio is not known: below what the clock of what is changed resolves)';
      if (any) rest += ', ' + time(Math.max(r.least, 0)) + ' to ' + time(r.most) + ' by the fixes’ ranges';
      else if (r.lo !== null && parts.length) rest += ' [' + r.lo.toFixed(2) + ', ' + r.hi.toFixed(2) + ']';
      sum.appendChild(document.createTextNode(rest));
      var seen = {}, twice = data.fixes.filter(function (f) { return fixes[f.id]; }).some(function (f) {
        return f.of.some(function (id) { var was = seen[id] || changes[id]; seen[id] = true; return was; });
      });
      note.textContent = twice ? 'Some of these are about the same operators: their gains do not add up.' : '';
      note.hidden = !twice;
      command.textContent = '';
      [data.command].concat(parts).forEach(function (words, i) { // as the page's own commands
        if (i) command.appendChild(document.createTextNode(' '));
        command.appendChild(make('span', words));
      });
      copy.hidden = !parts.length || !data.command;
      window.etprofWhatif = r; // for who automates the page
    }
    function row(list, text, link, control) {
      var item = list.appendChild(make('li')), label = item.appendChild(make('label')), a = make('a', link);
      a.href = '#' + scope + link;
      label.appendChild(control);
      label.appendChild(make('span', ' ' + text + ' '));
      item.appendChild(a);
      return item;
    }
    if (data.fixes.length) {
      var first = lists.appendChild(make('ul'));
      first.setAttribute('aria-label', 'Fixes');
      data.fixes.forEach(function (f) {
        if (!document.getElementById(scope + f.id)) return;
        var box = make('input');
        box.type = 'checkbox';
        box.value = f.id;
        box.onchange = function () { fixes[f.id] = box.checked; renew(); };
        row(first, title(scope + f.id).slice(f.id.length + 1), f.id, box);
      });
    }
    var second = lists.appendChild(make('ul')), find = make('input', '', 'Find an operator to change'), items = [];
    second.setAttribute('aria-label', 'Operators');
    second.tabIndex = 0;
    find.type = 'search';
    find.placeholder = 'Find an operator to change';
    var known = data.operators.filter(function (op) { return document.getElementById(scope + op.id); });
    known.forEach(function (op) {
      var select = make('select', '', title(scope + op.id));
      [['as it is', 0], ['without it', DROP], op.before.length && ['as ' + data.baseline, BACK], op.roof && ['at its roof', ROOF]]
        .filter(Boolean).forEach(function (o) { select.appendChild(make('option', o[0])).value = o[1]; });
      select.onchange = function () { changes[op.id] = Number(select.value); renew(); };
      select.name = op.id;
      var text = title(scope + op.id).slice(op.id.length + 1) + ' ' + time(data.scale * op.ns[0] / data.inference[0]);
      items.push({item: row(second, text, op.id, select), text: (op.id + ' ' + text).toLowerCase()});
    });
    if (known.length < data.operators.length) second.appendChild(make('li', 'The page has no details of ' + (data.operators.length - known.length) + ' more; the command takes each.'));
    find.oninput = function () {
      var word = find.value.trim().toLowerCase();
      items.forEach(function (i) { i.item.hidden = i.text.indexOf(word) < 0; });
    };
    lists.className = 'lists';
    copy.appendChild(command);
    if (navigator.clipboard) copier(copy.appendChild(make('button', 'Copy')), function () { return command.textContent; });
    [sum, note, copy, find, lists].forEach(function (e) { place.appendChild(e); });
    var home = heading.closest('details.shut') || heading.parentNode;
    home.insertBefore(place, source.parentNode === home ? source : null);
    renew();
  });

  // What is shut opens for who follows a link into it.
  function unfold() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var e = target; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  }
  addEventListener('hashchange', unfold);
  unfold();

  // Tabs: one of them is shown, that of the address or the first, and of the sections above only its own.
  (function () {
    var tabs = Array.prototype.slice.call(document.querySelectorAll('.tab'));
    function within(a) {
      var target = a.hash.length > 1 && document.getElementById(decodeURIComponent(a.hash.slice(1)));
      return target && target.closest('.tab');
    }
    function show(tab) {
      tabs.forEach(function (t) { t.hidden = t !== tab; });
      tab.querySelectorAll('.graph').forEach(function (g) { if (g.fit) g.fit(); });
      document.querySelectorAll('.tabs a').forEach(function (a) {
        if (within(a) === tab) a.setAttribute('aria-current', 'true');
        else a.removeAttribute('aria-current');
      });
      document.querySelectorAll('nav li').forEach(function (li) {
        var its = within(li.firstChild);
        if (its) li.hidden = its !== tab && li.firstChild.hash !== '#' + its.querySelector('h2').id;
      });
    }
    function follow() {
      var tab = within(location);
      if (!tab || !tab.hidden) return;
      show(tab);
      document.getElementById(decodeURIComponent(location.hash.slice(1))).scrollIntoView();
    }
    if (tabs.length < 2) return;
    document.addEventListener('click', function (event) {
      var a = event.target.closest && event.target.closest('a[href^="#"]'), tab = a && within(a);
      if (tab) show(tab); // before the browser looks for the place
    });
    addEventListener('hashchange', follow);
    show(tabs[0]);
    follow();
  })();

  // Drawers: sections of the page that come to the side when a link to them is followed. The address
  // says which one is open, so that going back closes it.
  var drawers = document.querySelectorAll('.drawer'), open = null, came = null;

  function lower(drawer) {
    drawer.classList.remove('open');
    drawer.removeAttribute('role');
    drawer.removeAttribute('aria-modal');
  }

  function shut() {
    if (!open) return;
    lower(open);
    open = null;
    if (came && document.contains(came)) came.focus({preventScroll: true});
  }

  function leave() {
    history.pushState(null, '', location.pathname + location.search);
    shut();
  }

  // How the single runs of each arm lie, all of a drawer on one scale.
  function draw(place) {
    place.querySelectorAll('dd[data-h]').forEach(function (dd) {
      var said = dd.getAttribute('data-h').split(' '), steps = said[3], path = '', ends = make('small'), svg = make('div');
      svg.innerHTML = '<svg><path/></svg>';
      svg = svg.firstChild;
      for (var i = 0; i < steps.length; i++) if (steps[i] !== '0') path += 'M' + i + ' 10v-' + steps[i] + 'h.9v' + steps[i] + 'z';
      svg.firstChild.setAttribute('d', path);
      svg.setAttribute('viewBox', '0 0 ' + said[2] + ' 10');
      svg.setAttribute('preserveAspectRatio', 'none');
      svg.setAttribute('aria-hidden', 'true'); // the words beside it say the same
      ends.setAttribute('aria-hidden', 'true');
      ends.appendChild(make('span', time(Number(said[0]))));
      ends.appendChild(make('span', time(Number(said[1])) + (steps.length < said[2] ? '' : ' and above')));
      dd.removeAttribute('data-h');
      dd.appendChild(svg).setAttribute('class', 'runs');
      dd.appendChild(ends);
    });
  }

  function follow() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target || !target.classList.contains('drawer')) { shut(); return; }
    if (open && open !== target) lower(open);
    if (!open) came = document.activeElement;
    open = target;
    if (!open.querySelector('button.close')) {
      var close = make('button', 'Close');
      close.className = 'close';
      close.onclick = leave;
      open.insertBefore(close, open.firstChild);
    }
    open.setAttribute('role', 'dialog');
    open.setAttribute('aria-modal', 'true');
    open.setAttribute('aria-label', open.querySelector('h3').textContent);
    open.tabIndex = -1;
    draw(open);
    open.querySelectorAll('dd > a').forEach(function (a) { // "op67" is Transpose (ND, X8) #1
      if (/^op\d+$/.test(a.textContent)) a.textContent = title(a.getAttribute('href').slice(1));
    });
    open.classList.add('open');
    open.scrollTop = 0;
    open.focus({preventScroll: true});
  }

  // The Tab key stays in the open drawer.
  function stay(event) {
    var stops = Array.prototype.filter.call(open.querySelectorAll('a[href], button, [tabindex="0"]'), function (e) {
      return e.getClientRects().length > 0;
    });
    var first = stops[0], last = stops[stops.length - 1], now = document.activeElement;
    var to = !open.contains(now) ? first : event.shiftKey ? (now === first || now === open) && last : now === last && first;
    if (!to) return;
    event.preventDefault();
    to.focus();
  }

  if (drawers.length) {
    root.classList.add('js');
    var place = drawers[0].parentNode, heading = place.querySelector('h2');
    place.classList.add('drawers');
    var link = heading && document.querySelector('nav a[href="#' + heading.id + '"]');
    if (link) link.parentNode.hidden = true;
    document.addEventListener('click', function (event) { // the page stays where it is
      var a = event.target.closest && event.target.closest('a[href^="#"]');
      var target = a && document.getElementById(decodeURIComponent(a.getAttribute('href').slice(1)));
      if (!target || !target.classList.contains('drawer')) return;
      event.preventDefault();
      if (!open) a.focus({preventScroll: true});
      history.pushState(null, '', a.getAttribute('href'));
      follow();
    });
    document.addEventListener('keydown', function (event) {
      if (event.key === 'Escape' && open) leave();
      else if (event.key === 'Tab' && open) stay(event);
    });
    addEventListener('popstate', follow);
    follow();
  }

  requestAnimationFrame(function () { setTimeout(function () { root.classList.add('painted'); }); });
})();
