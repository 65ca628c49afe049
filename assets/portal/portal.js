// What script adds; every page works without it.

// Times stand in UTC; a reader sees those of the own zone, and the exact UTC in the title.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const format = new Intl.DateTimeFormat('en-US', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const partsOf = (date) =>
  Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));

const textOf = (date, style) => {
  const at = partsOf(date);
  const clock = `${at.hour}:${at.minute}`;
  if (style === 'clock') return clock;
  const day = `${at.day} ${at.month}`;
  if (style === 'day') return `${day} ${at.year}`;
  const year = at.year === partsOf(new Date()).year ? '' : ` ${at.year}`;
  return `${day}${year} ${style === 'second' ? `${clock}:${at.second}` : clock}`;
};

for (const button of document.querySelectorAll('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  // What is said to screen readers alone stays behind the word.
  const word = button.firstChild;
  const label = word.data;
  button.hidden = false;
  const say = (words) => {
    word.data = words;
    setTimeout(() => (word.data = label), 4000);
  };
  const select = () => {
    getSelection().selectAllChildren(source);
    say('Selected: copy it');
  };
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(source.textContent.trim()).then(() => say('Copied'), select);
  });
}

// A text may come from a file, which this page reads.
for (const field of document.querySelectorAll('[data-file-for]')) {
  field.hidden = false;
  field.querySelector('input').addEventListener('change', async ({ target: { files } }) => {
    if (files.length > 0)
      document.getElementById(field.dataset.fileFor).value = await files[0].text();
  });
}

// Filters fold away on a phone.
if (matchMedia('(max-width: 40rem)').matches)
  for (const filters of document.querySelectorAll('details.fold')) filters.open = false;

// Five minutes before the session ends.
for (const warning of document.querySelectorAll('[data-ends]')) {
  const leftMs = Number(warning.dataset.ends) - Date.now() - 300_000;
  setTimeout(() => (warning.hidden = false), Math.max(0, leftMs));
}

for (const time of document.querySelectorAll('time[data-style]'))
  time.textContent = textOf(new Date(time.dateTime), time.dataset.style);
for (const zone of document.querySelectorAll('[data-zone]')) zone.textContent = timeZone ?? 'UTC';

// A page that waits for something is opened again until it does not. That is no use of the session, and nothing
// that somebody types, has opened or is told is taken away.
const address = new URL(location.href);
if (address.searchParams.has('reload')) {
  address.searchParams.delete('reload');
  history.replaceState(null, '', address);
  scrollTo(0, Number(sessionStorage.getItem('scroll')));
}
let isTyped = false;
document.addEventListener('input', () => (isTyped = true));
const isBusy = () =>
  isTyped || document.hidden || document.querySelector('main :focus, main details[open]:not(.fold)');
const openAgain = () => {
  if (isBusy()) return;
  sessionStorage.setItem('scroll', scrollY);
  address.searchParams.delete('once');
  address.searchParams.set('reload', '1');
  location.replace(address);
};
const isTold = document.querySelector('main .notice[role=status]:not(.ends)');
if (document.querySelector('main[data-reload]')) setInterval(openAgain, isTold ? 15_000 : 5000);
