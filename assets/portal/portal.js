// What script adds; every page works without it.

for (const button of document.querySelectorAll('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  const label = button.textContent;
  button.hidden = false;
  const say = (words) => {
    button.textContent = words;
    setTimeout(() => (button.textContent = label), 4000);
  };
  const select = () => {
    getSelection().selectAllChildren(source);
    say('Selected: copy it');
  };
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(source.textContent).then(() => say('Copied'), select);
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

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

// A session begins in the zone of the browser.
for (const link of document.querySelectorAll('a[href*="/portal/sign-in/start"]')) {
  if (!timeZone) break;
  const address = new URL(link.href);
  address.searchParams.set('zone', timeZone);
  link.href = address;
}

for (const form of document.querySelectorAll('form[data-zone]')) {
  if (!timeZone || timeZone === form.dataset.zone) continue;
  form.elements.timeZone.value = timeZone;
  form.querySelector('button').textContent = `Use ${timeZone}`;
  form.hidden = false;
}
