// SPDX-License-Identifier: Apache-2.0
// Pictures of the page: made of the data of one each. What they show is put in as text, never as markup.
(function () {
  'use strict';
  var holder = document.createElement('div');
  holder.innerHTML = '<svg></svg>';
  var NAMESPACE = holder.firstChild.namespaceURI;

  function fill(element, attributes, text) {
    Object.keys(attributes || {}).forEach(function (name) { element.setAttribute(name, attributes[name]); });
    if (text) element.textContent = text;
    return element;
  }

  function html(parent, tag, attributes, text) {
    return parent.appendChild(fill(document.createElement(tag), attributes, text));
  }

  function svg(parent, tag, attributes, text) {
    return parent.appendChild(fill(document.createElementNS(NAMESPACE, tag), attributes, text));
  }

  function line(parent, x1, y1, x2, y2, cls) {
    svg(parent, 'line', {x1: tenth(x1), y1: tenth(y1), x2: tenth(x2), y2: tenth(y2), 'class': cls});
  }

  function label(parent, x, y, anchor, cls, text, width) {
    var where = {x: tenth(x), y: tenth(y)};
    if (anchor) where['text-anchor'] = anchor;
    if (cls) where['class'] = cls;
    svg(parent, 'text', where, width ? fitted(text, width) : text);
  }

  function tenth(v) { return Math.round(v * 10) / 10; }

  function hundredth(v) { return Math.round(v * 100) / 100; }

  function list(items) { return items || []; }

  // Nanoseconds with four digits.
  function time(ns) {
    var units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
    var unit = units.find(function (u) { return Math.abs(ns) >= u[0]; }) || units[3];
    return (ns / unit[0]).toPrecision(4) + ' ' + unit[1];
  }

  function color(k) { return (k - 1) % 20 + 1; }

  // Cut in the middle to so many characters.
  function cut(text, most) {
    var letters = Array.from(text), keep = most - 1, tail = Math.floor(keep / 2);
    if (letters.length <= most) return text;
    return letters.slice(0, keep - tail).join('') + '…' + letters.slice(letters.length - tail).join('');
  }

  // About as wide as a usual font has it, rather more, so that labels do not collide.
  function textWidth(text) {
    return 12.5 * Array.from(text).reduce(function (em, letter) {
      if (/[iljtfI.,:;|'!()[\]/ ]/.test(letter)) return em + 0.33;
      if (/[mwMW@%]/.test(letter)) return em + 0.9;
      return em + (/[A-Z]/.test(letter) ? 0.68 : 0.58);
    }, 0);
  }

  function fitted(text, width) {
    var own = textWidth(text);
    return own <= width + 1 ? text : cut(text, Math.max(2, Math.floor(Array.from(text).length * width / own)));
  }

  // A scale leads from lo … hi of the data to from … to of the drawing, and no further.
  function at(scale, v) {
    var share = scale.hi > scale.lo ? (v - scale.lo) / (scale.hi - scale.lo) : 0;
    return scale.from + Math.min(Math.max(share, 0), 1) * (scale.to - scale.from);
  }

  // Up to N round values: steps of 1, 2 or 5 times a power of ten.
  function ticksOf(scale, n) {
    var rough = (scale.hi - scale.lo) / (n - 1), power = Math.pow(10, Math.floor(Math.log10(rough))), ticks = [];
    if (n < 2 || !(rough > 0)) return {step: 1, ticks: ticks};
    var step = power * [1, 2, 5, 10].find(function (lead) { return rough / power <= lead; });
    for (var k = Math.ceil(scale.lo / step - 1e-9); ticks.length < n && k * step <= scale.hi + step * 1e-9; k++) {
      ticks.push(k * step);
    }
    return {step: step, ticks: ticks};
  }

  // ---- a graph: a box stands below what leads to it, frames one below the other ----

  // title; view0, view1, view2: ways to colour the boxes; boxes: label, tip, link, group (boxes that follow each other
  // and have the same stand in a frame of that name), heat: -100 … 100 of each view, null: no colour; edges: from, to,
  // from, to …, places of boxes. The boxes are in the order of the program; an edge that leads back is not drawn.

  var BOX = {width: 200, height: 22}, GAP = {x: 24, y: 14}, FRAME = 8, FRAME_TITLE = 20; // as page.css has them

  // Boxes come in an order in which nothing leads back: each stands a layer below the lowest that leads to it, and a
  // frame begins below everything before it.
  function layersOf(g, before) {
    var floor = 0, most = 0, layers = [];
    g.boxes.forEach(function (box, i) {
      if (i && begins(g, i)) floor = most + 1;
      box.layer = before[i].reduce(function (layer, from) { return Math.max(layer, g.boxes[from].layer + 1); }, floor);
      most = Math.max(most, box.layer);
      (layers[box.layer] = layers[box.layer] || []).push(i);
    });
    return layers;
  }

  function begins(g, i) { return i === 0 || !g.boxes[i].group || g.boxes[i].group !== g.boxes[i - 1].group; }

  // Each box below the middle of what leads to it, as far as its neighbours let it: pushed to the right until none
  // overlap, then the whole layer back by the mean of that.
  function placeLayer(g, before, layer) {
    layer.forEach(function (i) {
      var sum = before[i].reduce(function (s, from) { return s + g.boxes[from].x; }, 0);
      g.boxes[i].want = before[i].length ? sum / before[i].length : 0;
    });
    layer.sort(function (a, b) { return g.boxes[a].want - g.boxes[b].want; });
    var shift = 0, last = -Infinity;
    layer.forEach(function (i) {
      last = g.boxes[i].x = Math.max(g.boxes[i].want, last + BOX.width + GAP.x);
      shift += g.boxes[i].want - last;
    });
    layer.forEach(function (i) { g.boxes[i].x += shift / layer.length; });
  }

  // Gives the height.
  function place(g, before) {
    var y = 0, layers = layersOf(g, before);
    layers.forEach(function (layer, k) {
      var first = Math.min.apply(null, layer), framed = Boolean(g.boxes[first].group);
      if (begins(g, first)) y += FRAME + (framed ? FRAME_TITLE : 0);
      placeLayer(g, before, layer);
      layer.forEach(function (i) { g.boxes[i].y = y; });
      y += BOX.height + GAP.y;
      var next = layers[k + 1];
      if (framed && (!next || begins(g, Math.min.apply(null, next)))) y += FRAME;
    });
    return y;
  }

  function frames(g, to, left) {
    for (var i = 0, next; i < g.boxes.length; i = next) {
      for (next = i + 1; next < g.boxes.length && !begins(g, next);) next++;
      if (!g.boxes[i].group) continue;
      var of = g.boxes.slice(i, next), xs = of.map(function (b) { return b.x; }), ys = of.map(function (b) { return b.y; });
      var x = Math.min.apply(null, xs) - BOX.width / 2 - left, top = Math.min.apply(null, ys);
      var width = Math.max.apply(null, xs) - Math.min.apply(null, xs) + BOX.width;
      svg(to, 'rect', {'class': 'frame', x: Math.round(x - FRAME), y: Math.round(top - FRAME_TITLE),
        width: Math.round(width + 2 * FRAME),
        height: Math.round(Math.max.apply(null, ys) + BOX.height - top + FRAME_TITLE + FRAME)});
      label(to, Math.round(x), Math.round(top - 6), '', 'm c', g.boxes[i].group);
    }
  }

  // One path, so one element, however many edges there are.
  function flow(g, left) {
    return g.edges.map(function (edge) {
      var a = g.boxes[edge[0]], b = g.boxes[edge[1]], x1 = Math.round(a.x - left), x2 = Math.round(b.x - left);
      var y1 = a.y + BOX.height, bend = Math.min((b.y - y1) / 2, 40);
      if (Math.abs(a.x - b.x) < 1) return 'M' + x1 + ' ' + y1 + 'V' + b.y;
      return 'M' + x1 + ' ' + y1 + 'C' + [x1, y1 + bend, x2, b.y - bend, x2, b.y].join(' ');
    }).join('');
  }

  // The style knows one colour for each sign; how strong it is stands in a property for each view, so that changing the
  // view needs no script.
  function box(b, to, left) {
    var cls = 'n', style = '';
    list(b.heat).forEach(function (heat, k) {
      heat = Math.max(-100, Math.min(heat, 100));
      if (heat < 0) cls += ' m' + k;
      if (heat) style += '--v' + k + ':' + Math.abs(heat) + '%;';
    });
    var e = svg(to, b.link ? 'a' : 'g', {'class': cls,
      transform: 'translate(' + Math.round(b.x - BOX.width / 2 - left) + ',' + Math.round(b.y) + ')'});
    if (style) e.setAttribute('style', style);
    if (b.link) e.setAttribute('href', '#' + b.link);
    else svg(e, 'title', {}, b.tip || b.label); // the drawer has it, whole and with its name
    svg(e, 'rect');
    svg(e, 'text', {}, cut(b.label, 29));
  }

  function graph(g, ordinal) {
    if (!list(g.boxes).length) return null;
    var figure = fill(document.createElement('figure'), {'class': 'graph'}), before = g.boxes.map(function () { return []; });
    g.edges = list(g.edges).reduce(function (pairs, to, k, all) {
      if (k % 2 && all[k - 1] < to && to < g.boxes.length) pairs.push([all[k - 1], to]);
      return pairs;
    }, []);
    g.edges.forEach(function (edge) { before[edge[1]].push(edge[0]); });
    before.forEach(function (list) { list.sort(function (a, b) { return a - b; }); });
    var height = place(g, before) + 1, views = html(figure, 'div', {'class': 'views', role: 'radiogroup', 'aria-label': 'Coloured by'});
    [g.view0, g.view1, g.view2].forEach(function (view, k) {
      if (!view) return;
      var choice = html(views, 'label'), radio = html(choice, 'input', {type: 'radio', name: 'view-' + ordinal, value: k});
      radio.checked = views.children.length === 1;
      choice.appendChild(document.createTextNode(' ' + view));
    });
    var xs = g.boxes.map(function (b) { return b.x; });
    var left = Math.min.apply(null, xs.concat(BOX.width / 2)) - BOX.width / 2 - FRAME - 1;
    var width = Math.round(Math.max.apply(null, xs.concat(-BOX.width / 2)) + BOX.width / 2 - left + FRAME + 1);
    var room = html(figure, 'div', {'class': 'box tall', tabindex: 0, role: 'region', 'aria-label': g.title});
    var to = svg(room, 'svg', {viewBox: '0 0 ' + width + ' ' + height, width: width, height: height, role: 'group',
      'aria-label': g.title});
    frames(g, to, left);
    svg(to, 'path', {'class': 'flow', d: flow(g, left)});
    g.boxes.forEach(function (b) { box(b, to, left); });
    return figure;
  }

  // ---- tracks of spans: shares of the longest track, so that they fit every width ----

  // title; tracks: label, length in ns, spans: label, link, from, length, depth, color. All have one scale, so that a
  // shorter arm is shorter to the eye.
  function spans(s) {
    var figure = fill(document.createElement('figure'), {'class': 'spans'}), most = 0;
    list(s.tracks).forEach(function (track) {
      track.spans = track.spans.filter(function (span) { return span.from !== null && span.length > 0; });
      most = track.spans.reduce(function (end, span) { return Math.max(end, span.from + span.length); }, Math.max(most, track.length));
    });
    if (!(most > 0)) return null;
    html(figure, 'figcaption', {}, s.title);
    s.tracks.forEach(function (track) {
      var words = html(figure, 'p', {'class': 'label'}, track.label + ' '), depth = 0;
      html(words, 'b', {}, track.length === null ? '–' : time(track.length));
      var place = html(figure, 'div', {'class': 'track'});
      track.spans.forEach(function (span) {
        var left = hundredth(100 * span.from / most), width = hundredth(100 * span.length / most);
        if (width < 0.1) return; // less than a pixel: what it is a part of shows it
        var cls = (span.color ? 'f' + color(span.color) : '') + (span.depth ? ' d' : '');
        var style = 'left:' + left + '%;width:' + width + '%' + (span.depth > 1 ? ';--d:' + span.depth : '');
        var e = html(place, span.link ? 'a' : 'span', {style: style}, width >= 3 ? span.label : ''); // else no room
        if (cls) e.className = cls.trim();
        if (span.link) e.setAttribute('href', '#' + span.link);
        else e.title = span.label + ' ' + time(span.length);
        depth = Math.max(depth, span.depth || 0);
      });
      place.setAttribute('style', '--n:' + (depth + 1));
    });
    return figure;
  }

  // ---- points below roofs on two logarithmic axes ----

  var PLANE = {width: 820, height: 420, left: 70, right: 808, top: 12, bottom: 376};

  // title, x_title, y_title; points: label, link, color, x, y, from_y (an arrow comes from there); roofs: label, slope,
  // ceiling: y = slope · x up to the ceiling, either of them 0: none. Of what has no logarithm nothing is drawn.
  function drawable(v) { return v > 1e-30 && v < 1e30; }

  // Whole powers of ten, so that the grid has round figures.
  function planeScale(values, from, to) {
    var logs = values.filter(function (v) { return v > 0; }).map(Math.log10);
    return {lo: Math.floor(Math.min.apply(null, logs) - 0.1), hi: Math.ceil(Math.max.apply(null, logs) + 0.1),
      from: from, to: to};
  }

  function planeAxes(p, to, x, y) {
    for (var d = x.lo; d <= x.hi; d++) {
      line(to, at(x, d), PLANE.top, at(x, d), PLANE.bottom, 'grid');
      label(to, at(x, d), PLANE.bottom + 16, 'middle', 'm c', power(d));
    }
    for (d = y.lo; d <= y.hi; d++) {
      line(to, PLANE.left, at(y, d), PLANE.right, at(y, d), 'grid');
      label(to, PLANE.left - 6, at(y, d) + 4, 'end', 'm c', power(d));
    }
    label(to, (PLANE.left + PLANE.right) / 2, PLANE.height - 6, 'middle', 'm', p.x_title);
    label(to, PLANE.left + 6, PLANE.top + 12, '', 'm', p.y_title);
  }

  function power(d) { return String(Number('1e' + d)); }

  // The slope of memory up to the ceiling of arithmetic, within the frame; a roof may have only one of them.
  function roof(r, to, x, y) {
    var slope = Math.log10(r.slope), ceiling = Math.log10(r.ceiling);
    var knee = r.slope > 0 ? x.hi : x.lo;
    if (r.slope > 0 && r.ceiling > 0) knee = ceiling - slope;
    if (r.slope > 0) {
      var end = Math.min(knee, x.hi, y.hi - slope), begin = Math.max(x.lo, y.lo - slope);
      if (begin < end) line(to, at(x, begin), at(y, begin + slope), at(x, end), at(y, end + slope), 'wh');
    }
    if (r.ceiling > 0 && knee < x.hi) {
      line(to, at(x, Math.max(knee, x.lo)), at(y, ceiling), at(x, x.hi), at(y, ceiling), 'wh');
      label(to, PLANE.right - 4, at(y, ceiling) - 5, 'end', 'c', r.label, 260);
    }
  }

  function point(p, to, x, y) {
    var place = p.link ? svg(to, 'a', {href: '#' + p.link}) : to, g = svg(place, 'g');
    var px = tenth(at(x, Math.log10(p.x))), py = tenth(at(y, Math.log10(p.y)));
    svg(g, 'title', {}, p.label);
    if (drawable(p.from_y)) {
      var from = tenth(at(y, Math.log10(p.from_y))), tip = py < from ? 6 : -6;
      svg(g, 'path', {'class': 'move', d: 'M' + px + ' ' + from + 'V' + py});
      if (Math.abs(from - py) > 8) {
        svg(g, 'path', {'class': 'move', d: 'M' + px + ' ' + py + 'l4 ' + tip + 'M' + px + ' ' + py + 'l-4 ' + tip});
      }
    }
    svg(g, 'circle', {'class': 'f' + color(p.color || 1), cx: px, cy: py, r: 4.5});
  }

  function plane(p) {
    p.points = list(p.points).filter(function (e) { return drawable(e.x) && drawable(e.y); });
    p.roofs = list(p.roofs).map(function (r) {
      return {label: r.label, slope: drawable(r.slope) ? r.slope : 0, ceiling: drawable(r.ceiling) ? r.ceiling : 0};
    }).filter(function (r) { return r.slope > 0 || r.ceiling > 0; });
    if (!p.points.length) return null;
    var figure = fill(document.createElement('figure'), {'class': 'chart plane'});
    html(figure, 'figcaption', {}, p.title);
    var room = html(figure, 'div', {'class': 'box', tabindex: 0, role: 'region', 'aria-label': p.title});
    var to = svg(room, 'svg', {viewBox: '0 0 ' + PLANE.width + ' ' + PLANE.height, role: 'group', 'aria-label': p.title});
    var heights = p.points.map(function (e) { return e.y; }).concat(p.roofs.map(function (r) { return r.ceiling; }));
    var x = planeScale(p.points.map(function (e) { return e.x; }), PLANE.left, PLANE.right);
    var y = planeScale(heights.concat(p.points.map(function (e) { return drawable(e.from_y) ? e.from_y : 0; })), PLANE.bottom, PLANE.top);
    planeAxes(p, to, x, y);
    p.roofs.forEach(function (r) { roof(r, to, x, y); });
    p.points.forEach(function (e) { point(e, to, x, y); });
    return figure;
  }

  // ---- boxes over steps: a plan of memory, as tensors that stand at their places while they are needed ----

  // title, description (for people who cannot see it, and as its caption), x_title; series: label, color; boxes: label,
  // series, from and until before which step, place and size in bytes; sums: bytes in use at each step; peak: words at
  // the first of the highest.
  // Swatches and names behind each other, in as many lines as they take. Gives their height; TO null: nothing is drawn.
  function names(c, to, left, right) {
    var x = left, y = 14;
    c.series.forEach(function (series) {
      var width = Math.min(textWidth(series.label), 200) + 20;
      if (x > left && x + width > right) {
        x = left;
        y += 20;
      }
      if (to) {
        svg(to, 'rect', {x: tenth(x), y: y - 10, width: 12, height: 12, 'class': 'f' + color(series.color)});
        label(to, x + 18, y, '', '', series.label, 200);
      }
      x += width + 18;
    });
    return y + 10;
  }

  // The line of the sums: what falls into one column of pixels is its highest.
  function sums(c, x, y) {
    var before = 0, most = 0, path = '';
    c.sums.forEach(function (sum, k) {
      most = Math.max(most, sum);
      var from = at(x, before), to = at(x, k + 1);
      if (to - from < 1 && k + 1 < c.sums.length) return;
      path += (path ? 'L' : 'M') + tenth(from) + ' ' + tenth(at(y, most)) + 'H' + tenth(to);
      before = k + 1;
      most = 0;
    });
    return path;
  }

  function memoryBox(c, b, to, x, y) {
    var left = at(x, b.from), width = at(x, b.to) - left, upper = at(y, b.place + b.size), height = at(y, b.place) - upper;
    var g = svg(to, 'g'), k = color(c.series[b.series].color);
    svg(g, 'title', {}, b.label);
    svg(g, 'rect', {x: tenth(left), y: tenth(upper), width: tenth(Math.max(width, 1)), height: tenth(height), 'class': 'seg f' + k});
    if (height >= 15 && width >= 50) label(g, left + 5, upper + height / 2 + 4, '', 'c o' + k, b.label, width - 10);
  }

  // A wide picture that is scaled down has letters too small to read, so a phone gets a drawing of its own.
  function boxes(c, narrow) {
    var size = narrow ? 360 : 860, left = narrow ? 46 : 60, top = names(c, null, left, size) + 24, bottom = top + 260;
    var tops = c.boxes.map(function (b) { return b.place + b.size; });
    var x = {lo: 0, hi: c.sums.length, from: left, to: size - 18};
    var y = {lo: 0, hi: Math.max.apply(null, tops.concat(c.sums, 0)), from: bottom, to: top};
    var to = fill(document.createElementNS(NAMESPACE, 'svg'), {viewBox: '0 0 ' + size + ' ' + (bottom + 40),
      'class': narrow ? 'narrow' : 'wide', role: 'img', 'aria-label': c.title});
    svg(to, 'title', {}, c.title);
    svg(to, 'desc', {}, c.description);
    var unit = [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']].find(function (u) { return y.hi >= u[0]; }) || [1, 'B'];
    label(to, left - 8, 14, 'end', 'm c', unit[1]);
    names(c, to, left, size);
    var marks = ticksOf(y, 6), decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(marks.step / unit[0]) + 1e-9)));
    marks.ticks.forEach(function (v) {
      line(to, left, at(y, v), size, at(y, v), 'grid');
      label(to, left - 8, at(y, v) + 4, 'end', 'm c', (v / unit[0]).toFixed(decimals));
    });
    c.boxes.forEach(function (b) { memoryBox(c, b, to, x, y); });
    svg(to, 'path', {'class': 'wh', d: sums(c, x, y)});
    if (c.sums.length) { // the words stand on the side that has more room for them
      var peak = tenth(at(x, c.sums.indexOf(Math.max.apply(null, c.sums)) + 0.5)), before = peak - x.from > x.to - peak;
      svg(to, 'path', {'class': 's5', d: 'M' + peak + ' ' + (top - 16) + 'V' + bottom});
      label(to, peak + (before ? -6 : 6), top - 6, before ? 'end' : '', 'b c', c.peak, (before ? peak - x.from : x.to - peak) - 10);
    }
    line(to, left, bottom, x.to, bottom, 'axis');
    ticksOf(x, Math.min(narrow ? 4 : 8, c.sums.length + 1)).ticks.forEach(function (v) { // below the middle of its step
      if (v < c.sums.length) label(to, at(x, v + 0.5), bottom + 16, 'middle', 'm c', v.toFixed(0));
    });
    label(to, (left + x.to) / 2, bottom + 34, 'middle', 'm', c.x_title, x.to - left);
    return to;
  }

  function plan(c) {
    if (!list(c.sums).length) return null;
    var figure = fill(document.createElement('figure'), {'class': 'chart'});
    html(figure, 'figcaption', {}, c.title);
    figure.appendChild(boxes(c, false));
    figure.appendChild(boxes(c, true));
    html(figure, 'p', {'class': 'caption'}, c.description);
    return figure;
  }

  // For page.js.
  window.etprofTime = time;
  // For build.js: of the data of one picture its figure, null where there is nothing to draw; ordinal: its place on the
  // page.
  window.etprofPictures = {graph: graph, spans: spans, plane: plane, plan: plan};
})();
