// What pages need beyond htmx: copy buttons, and whether live updates arrive. Pages work without it.

document.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-copy]') : null;
  if (button === null) return;
  const field = document.getElementById(button.dataset.copy);
  if (field === null) return;
  const status = button.parentElement.querySelector('[role="status"]');
  try {
    await navigator.clipboard.writeText(field.value);
    status.textContent = 'Copied';
  } catch {
    // Without permission, or without HTTPS: the text is ready for the keyboard.
    field.select();
    status.textContent = 'Press Ctrl+C to copy';
  }
});

// Buttons that need a script are hidden until there is one.
document.documentElement.classList.add('scripted');

/** On the root, because the server replaces live parts. */
function setLive(state) {
  document.documentElement.dataset.live = state;
}

document.addEventListener('htmx:sse:after:connection', () => setLive('on'));
document.addEventListener('htmx:sse:error', () => setLive('off'));
document.addEventListener('htmx:sse:close', () => setLive('off'));
