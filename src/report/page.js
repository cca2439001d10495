// SPDX-License-Identifier: Apache-2.0
// Comfort only: theme switch, sorting, filtering, copying. The page is complete without it.
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

  function addFilter(table) {
    var rows = Array.prototype.slice.call(table.tBodies[0].rows);
    if (rows.length < 12) return;
    var bar = make('div'), input = make('input', '', 'Filter rows'), count = make('span', rows.length + ' rows');
    bar.className = 'tools';
    count.setAttribute('aria-live', 'polite');
    input.type = 'search';
    input.placeholder = 'Filter rows';
    input.oninput = function () {
      var words = input.value.toLowerCase().split(/\s+/), shown = 0;
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (w) { return text.indexOf(w) >= 0; });
        if (!row.hidden) shown++;
      });
      count.textContent = shown === rows.length ? shown + ' rows' : shown + ' of ' + rows.length + ' rows';
    };
    bar.appendChild(input);
    bar.appendChild(count);
    var figure = table.closest('figure');
    figure.insertBefore(bar, figure.firstChild);
  }

  document.querySelectorAll('table').forEach(function (table) {
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row, i) { row.order = i; });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th, column) {
      if (!th.hasAttribute('data-sort') || table.tBodies[0].rows.length < 2) return;
      th.appendChild(make('button', '', 'Sort by ' + th.textContent));
      th.onclick = function () { sort(table, th, column); }; // the button's click arrives here too
    });
    addFilter(table);
  });

  document.querySelectorAll('figure.code, .copy').forEach(function (place) {
    if (!navigator.clipboard) return;
    var button = make('button', 'Copy'), code = place.querySelector('code').textContent;
    if (place.className === 'copy') button.setAttribute('aria-label', 'Copy: ' + code);
    button.onclick = function () {
      navigator.clipboard.writeText(code).then(function () {
        button.textContent = 'Copied';
        setTimeout(function () { button.textContent = 'Copy'; }, 1500);
      });
    };
    place.appendChild(button);
  });
})();
