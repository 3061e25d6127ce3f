// Opens the search page of the page's language by "/" or Ctrl-K, unless the site does something else with the key.
((pages) => {
  const script = document.currentScript;
  if (!script || !/^http/.test(location.protocol) || Object.keys(pages).length === 0) return;
  const language = document.documentElement.lang.toLowerCase();
  const page = pages[language] || pages[language.split('-')[0]] || pages[''];
  const root = new URL('..', script.src);

  function isShortcut(event) {
    if (event.isComposing || event.repeat || event.altKey) return false;
    const isPlain = !event.ctrlKey && !event.metaKey;
    return (isPlain && event.key === '/') || (!isPlain && !event.shiftKey && event.key.toLowerCase() === 'k');
  }

  function isTyping(event) {
    const target = event.composedPath()[0];
    if (!(target instanceof Element)) return false;
    return target.isContentEditable || target.matches('input, textarea, select, [role=textbox], [role=combobox]');
  }

  let focused;
  function open(event) {
    if (event.defaultPrevented || document.activeElement !== focused) return;
    const field = document.querySelector('[data-galley-search] input');
    event.preventDefault();
    if (field) field.focus();
    else location.assign(new URL(page, root));
  }

  addEventListener(
    'keydown',
    (event) => {
      removeEventListener('keydown', open);
      if (!isShortcut(event) || isTyping(event)) return;
      focused = document.activeElement;
      // Added anew, so that it comes after all of the site's own.
      addEventListener('keydown', open);
    },
    true,
  );
})(PAGES);
