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

// Browsers have passkeys only over HTTPS or on localhost, and for no host that is an address.
const ADDRESS = /^[\d.]+$|^\[/;
if (typeof PublicKeyCredential === 'undefined' || ADDRESS.test(location.hostname)) {
  for (const button of document.querySelectorAll('button[data-passkey]')) {
    button.disabled = true;
    button.title = 'Passkeys need HTTPS, or localhost instead of an address';
  }
}

// The message of an action is for the page that it led to, not for a reload or a bookmark of it.
const here = new URL(location.href);
if (here.searchParams.has('done')) {
  here.searchParams.delete('done');
  history.replaceState(null, '', here);
}

// Times in the reader's zone, with UTC on hover. The server, which doesn't know the zone, writes UTC.
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const LOCAL = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });

function showLocalTimes() {
  for (const time of document.querySelectorAll('time[data-utc]')) {
    if (time.textContent !== time.dataset.utc) continue;
    time.title = time.dataset.utc;
    time.textContent = LOCAL.format(new Date(time.dateTime));
  }
  for (const zone of document.querySelectorAll('[data-zone]'))
    if (zone.textContent === 'UTC') zone.textContent = `${ZONE}, with UTC on hover`;
}

if (!/^(Etc\/)?(UTC|GMT)$/.test(ZONE)) {
  showLocalTimes();
  // Live updates bring UTC again.
  new MutationObserver(showLocalTimes).observe(document.body, { subtree: true, childList: true, characterData: true });
}

// On a phone the pages' links scroll: the current one may be beyond the edge.
document.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

// Buttons that need a script are hidden until there is one.
document.documentElement.classList.add('scripted');

/** On the root, because the server replaces live parts. */
function setLive(state) {
  document.documentElement.dataset.live = state;
}

document.addEventListener('htmx:sse:after:connection', () => setLive('on'));
document.addEventListener('htmx:sse:error', () => setLive('off'));
document.addEventListener('htmx:sse:close', () => setLive('off'));

/** `3 h 5 min`, as the server writes durations. */
function durationText(ms) {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const first = units.findIndex(([size]) => ms >= size);
  if (first === -1) return 'expired';
  return units
    .slice(first, first + 2)
    .map(([size, name], index) => `${Math.floor((index === 0 ? ms : ms % units[first][0]) / size)} ${name}`)
    .join(' ');
}

setInterval(() => {
  for (const time of document.querySelectorAll('time[data-countdown]')) {
    time.textContent = durationText(Date.parse(time.dateTime) - Date.now());
  }
}, 1_000);

const PASSKEYS = '/ui/auth/passkey';

async function callPasskeys(path, body) {
  const sent = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${PASSKEYS}/${path}`, sent);
  const answer = await response.json().catch(() => ({}));
  if (answer.code === 'SESSION_NOT_FRESH') throw new Error('You signed in too long ago: reload the page.');
  if (!response.ok) throw new Error(answer.message ?? `HTTP ${response.status}`);
  return answer;
}

/** Adds a passkey to the account, or signs in with one. */
const PASSKEY_ACTIONS = {
  async add() {
    const options = await callPasskeys('generate-register-options');
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    const credential = await navigator.credentials.create({ publicKey });
    await callPasskeys('verify-registration', { response: credential.toJSON(), name: 'Passkey' });
    location.reload();
  },
  async 'sign-in'(button) {
    const options = await callPasskeys('generate-authenticate-options');
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const credential = await navigator.credentials.get({ publicKey });
    await callPasskeys('verify-authentication', { response: credential.toJSON() });
    location.assign(button.dataset.to ?? '/');
  },
};

document.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-passkey]') : null;
  if (button === null) return;
  const problem = document.getElementById('passkey-error');
  try {
    problem.textContent = '';
    await PASSKEY_ACTIONS[button.dataset.passkey](button);
  } catch (error) {
    problem.textContent = error.name === 'NotAllowedError' ? 'No passkey was used.' : `${error.message}`;
  }
});
