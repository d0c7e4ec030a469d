(function () {
  "use strict";
  var all = function (what, where) { return Array.prototype.slice.call((where || document).querySelectorAll(what)); };
  var folds = all("main details"), items = all("[data-item]"), form = document.querySelector(".filter");
  var groups = all("[data-group],main details").filter(function (own) { return own.querySelector("[data-item]"); });
  var texts, before;
  var open = function (is) { folds.forEach(function (own) { own.open = is; }); };
  addEventListener("beforeprint", function () { before = folds.map(function (own) { return own.open; }); open(true); });
  addEventListener("afterprint", function () { folds.forEach(function (own, at) { own.open = before[at]; }); });
  if (items.length < 2 && folds.length < 2) return;
  var input = form.querySelector("input"), count = form.querySelector("output"), unfolded = groups.map(function (own) { return own.open; });
  var filter = function () {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    texts = texts || items.map(function (own) {
      var group = own.closest("[data-group]");
      return (own.textContent + " " + (group ? group.dataset.group : "")).toLowerCase();
    });
    items.forEach(function (own, at) {
      var hit = words.every(function (word) { return texts[at].indexOf(word) >= 0; });
      own.hidden = !hit;
      if (hit) shown += 1;
    });
    groups.forEach(function (own, at) {
      if (own.hasAttribute("data-item")) return;
      var any = own.querySelector("[data-item]:not([hidden])");
      own.hidden = !any;
      own.open = words.length ? Boolean(any) : unfolded[at];
    });
    count.textContent = words.length ? shown + " of " + items.length + " shown" : "";
  };
  form.hidden = false;
  form.querySelector("label").hidden = items.length < 2;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  var timer;
  input.addEventListener("input", function () { clearTimeout(timer); timer = setTimeout(filter, 120); });
  var buttons = all("button", form);
  buttons.forEach(function (own) { own.hidden = !folds.length; });
  buttons[0].addEventListener("click", function () { open(true); });
  buttons[1].addEventListener("click", function () { open(false); });
})();
