// German (formal address).

import type { LoginMessages } from '../core/messages.ts';
import { countsIn, describeEnd, withFullStop } from '../core/plurals.ts';

const { number, plural, seconds } = countsIn('de');
const files = plural({ one: '# Datei', other: '# Dateien' });
const notUploaded = plural({
  one: '# Datei konnte nicht hochgeladen werden.',
  other: '# Dateien konnten nicht hochgeladen werden.',
});

const de: LoginMessages = {
  'bad-config':
    'Uploads sind auf dieser Seite nicht richtig eingerichtet. Wenden Sie sich an den Website-Betreiber.',
  'insecure-context':
    'Zum Hochladen ist eine sichere Verbindung erforderlich. Öffnen Sie diese Seite über HTTPS.',
  'file-too-large': 'Zu groß. Wählen Sie eine kleinere Datei aus.',
  'file-type-refused': 'Dateityp nicht zulässig. Wählen Sie eine andere Datei aus.',
  'too-many-files': 'Zu viele Dateien. Entfernen Sie eine, um eine andere hinzuzufügen.',
  'file-empty': 'Leere Datei. Wählen Sie eine andere aus.',
  'file-unreadable':
    'Diese Datei konnte nicht gelesen werden. Prüfen Sie, ob sie noch vorhanden und nicht in einer anderen App geöffnet ist, und wählen Sie sie dann erneut aus.',
  'file-changed':
    'Diese Datei wurde beim Hochladen geändert. Versuchen Sie es erneut, um die neue Version hochzuladen.',
  'wrong-file':
    'Diese Datei gehört nicht zu diesem unterbrochenen Upload. Wählen Sie die ursprüngliche Datei aus.',
  'hash-failed': 'Diese Datei konnte nicht für den Upload vorbereitet werden. Versuchen Sie es erneut.',
  'transform-failed': 'Diese Datei konnte nicht für den Upload vorbereitet werden. Versuchen Sie es erneut.',
  'location-not-removed':
    'Aus dieser Datei kann der Standort nicht entfernt werden. Wählen Sie eine andere Datei aus.',
  offline: 'Sie sind offline. Der Upload wird fortgesetzt, sobald Sie wieder online sind.',
  network: 'Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
  timeout: 'Der Server hat nicht rechtzeitig geantwortet. Versuchen Sie es in Kürze erneut.',
  'rate-limited': 'Der Server ist ausgelastet. Versuchen Sie es in Kürze erneut.',
  forbidden:
    'Sie sind nicht berechtigt, hier Dateien hochzuladen. Bitten Sie den Website-Betreiber um Zugriff.',
  'name-taken':
    'Eine Datei mit diesem Namen ist bereits vorhanden. Laden Sie Ihre unter einem anderen Namen hoch.',
  'session-expired':
    'Dieser Upload ist abgelaufen. Wenn die Datei nicht im Ordner ist, entfernen Sie sie hier und fügen Sie sie erneut hinzu.',
  'service-failed': 'Auf dem Server ist ein Fehler aufgetreten. Versuchen Sie es in Kürze erneut.',
  'service-not-found':
    'Uploads sind auf dieser Seite nicht richtig eingerichtet. Wenden Sie sich an den Website-Betreiber.',
  'service-full': 'Auf dem Server ist kein Platz mehr. Wenden Sie sich an den Website-Betreiber.',
  'bad-response': 'Der Server hat unerwartete Daten gesendet. Versuchen Sie es in Kürze erneut.',
  'ticket-expired': 'Der Upload-Link ist abgelaufen. Versuchen Sie es erneut.',
  'upload-refused':
    'Der Server hat den Upload abgelehnt. Versuchen Sie es erneut oder wenden Sie sich an den Website-Betreiber.',
  'storage-unreadable':
    'Diese Seite hat keinen Zugriff auf den Speicherserver. Wenden Sie sich an den Website-Betreiber.',
  'upload-stalled':
    'Der Upload kommt nicht mehr voran. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
  'upload-restarted': 'Dieser Upload musste von vorn beginnen und dauert daher länger.',
  'hash-mismatch':
    'Einige Daten wurden beim Hochladen beschädigt, Ihre Datei ist jedoch unversehrt. Versuchen Sie es erneut.',
  'store-full':
    'Der Speicher Ihres Browsers ist voll. Dieser Upload kann daher später nicht fortgesetzt werden. Lassen Sie diese Seite geöffnet, bis er abgeschlossen ist.',
  'store-unavailable':
    'Ihr Browser kann den Fortschritt dieses Uploads nicht speichern. Lassen Sie diese Seite geöffnet, bis er abgeschlossen ist.',
  'sign-in-required': 'Melden Sie sich an, um fortzufahren.',
  'access-denied':
    'Der Zugriff wurde verweigert. Melden Sie sich erneut an oder verwenden Sie ein anderes Konto.',
  'authorize-failed': 'Anmeldung fehlgeschlagen. Versuchen Sie es erneut.',
  'popup-blocked':
    'Ihr Browser hat das Anmeldefenster blockiert. Lassen Sie Pop-ups für diese Seite zu und versuchen Sie es erneut.',
  'popup-closed': 'Das Anmeldefenster wurde geschlossen. Melden Sie sich an, um fortzufahren.',
  'popup-timeout': 'Die Anmeldung hat zu lange gedauert. Versuchen Sie es erneut.',
  'silent-timeout': 'Sie konnten nicht automatisch angemeldet werden. Melden Sie sich an, um fortzufahren.',
  'state-mismatch': 'Diese Anmeldung konnte nicht überprüft werden. Versuchen Sie es erneut.',
  'issuer-mismatch':
    'Diese Anmeldung kam von einem unerwarteten Server. Wenden Sie sich an den Website-Betreiber.',
  'code-rejected': 'Ihre Anmeldung konnte nicht abgeschlossen werden. Versuchen Sie es erneut.',
  'token-malformed': 'Bei der Anmeldung ist ein Fehler aufgetreten. Versuchen Sie es erneut.',
  'token-rejected': 'Der Server hat Ihre Anmeldung nicht akzeptiert. Melden Sie sich erneut an.',
  'host-token-failed': 'Diese Seite konnte Sie nicht anmelden. Versuchen Sie es erneut.',
  'credentials-rejected': 'E-Mail-Adresse oder Passwort ist falsch. Versuchen Sie es erneut.',
  'account-locked':
    'Dieses Konto ist gesperrt. Versuchen Sie es später erneut oder wenden Sie sich an den Website-Betreiber.',
  'challenge-failed': 'Bestätigung fehlgeschlagen. Versuchen Sie es erneut.',
  'challenge-denied': 'Die Anmeldeanfrage wurde abgelehnt. Versuchen Sie es erneut.',
  'challenge-expired': 'Die Zeit für diesen Schritt ist abgelaufen. Melden Sie sich erneut an.',
  'method-unsupported':
    'Dieses Formular unterstützt Ihre Bestätigungsmethode nicht. Melden Sie sich auf andere Weise an.',
  'step-unsupported':
    'Sie können die Anmeldung mit diesem Formular nicht abschließen. Melden Sie sich auf andere Weise an.',
  'passkey-canceled': 'Die Anmeldung mit Passkey wurde abgebrochen. Versuchen Sie es erneut.',
  'passkey-unavailable': 'Passkeys können hier nicht verwendet werden. Wählen Sie eine andere Methode aus.',
  canceled: 'Abgebrochen.',
  locale: 'de',
  label: 'Dateien hochladen',
  dropFile: 'Datei hier ablegen',
  dropFiles: 'Dateien hier ablegen',
  dropNow: 'Zum Hochladen loslassen',
  turnedOff: 'Uploads sind deaktiviert',
  chooseFile: 'Datei auswählen',
  chooseFiles: 'Dateien auswählen',
  chooseFolder: 'Ordner auswählen',
  kinds: {
    image: 'Bilder',
    video: 'Videos',
    audio: 'Audiodateien',
    text: 'Textdateien',
    other: 'andere Typen',
  },
  upTo: (size) => `bis zu ${size} pro Datei`,
  atMost: (count) => `höchstens ${files(count)}`,
  atLeast: (count) => `Laden Sie mindestens ${files(count)} hoch.`,
  unfinished:
    'Einige Dateien sind noch nicht hochgeladen. Schließen Sie die Uploads ab oder entfernen Sie die Dateien aus der Liste.',
  unsendable: (name) =>
    `${name} kann nicht mit diesem Formular gesendet werden. Entfernen Sie die Datei aus der Liste und fügen Sie sie dann erneut hinzu.`,
  submitsLater: 'Das Formular wird abgesendet, sobald alle Dateien hochgeladen sind.',
  notSent: 'Das Formular wurde nicht abgesendet.',
  loadFailed:
    'Es konnte nicht alles geladen werden, was für Uploads nötig ist. Prüfen Sie die Verbindung und versuchen Sie es erneut.',
  reload:
    'Es konnte nicht alles geladen werden, was für Uploads nötig ist. Laden Sie diese Seite neu und wählen Sie Ihre Dateien dann noch einmal aus.',
  reading: (count) => `Dateien werden gelesen\u00a0… ${files(count)} gefunden`,
  emptyFolders: plural({
    one: '# leerer Ordner wurde übersprungen.',
    other: '# leere Ordner wurden übersprungen.',
  }),
  list: 'Dateien',
  phases: {
    queued: 'Wartet',
    hashing: 'Wird vorbereitet\u00a0…',
    uploading: 'Wird hochgeladen',
    committing: 'Wird abgeschlossen\u00a0…',
    done: 'Fertig',
    failed: 'Upload fehlgeschlagen',
    canceled: 'Abgebrochen',
  },
  pauseReasons: {
    user: 'Pausiert',
    offline: 'Wartet auf Verbindung',
    'signed-out': 'Wartet auf Anmeldung',
    challenge: 'Wartet auf Anmeldung',
    'rate-limited': 'Server ausgelastet, neuer Versuch in Kürze',
    'other-tab': 'Wird in einem anderen Tab hochgeladen',
    'slow-file': 'Wartet auf die Datei',
    resuming: 'Wird fortgesetzt\u00a0…',
    'needs-file': 'Zum Fortsetzen die Datei erneut auswählen',
  },
  retrying: 'Neuer Versuch\u00a0…',
  retryingIn: (duration) => `Neuer Versuch in ${duration}`,
  pause: 'Pausieren',
  resume: 'Fortsetzen',
  chooseAgain: 'Datei auswählen',
  cancel: 'Abbrechen',
  retry: 'Erneut versuchen',
  uploadAs: (name) => `Als ${name} hochladen`,
  remove: 'Aus der Liste entfernen',
  undo: 'Rückgängig',
  undoableCancel: (count) => (count === 1 ? 'Upload abgebrochen' : `${number(count)} Uploads abgebrochen`),
  undoableRemoval: 'Datei aus der Liste entfernt',
  actionOn: (action, name) => `${action}: ${name}`,
  start: (count) => `${files(count)} hochladen`,
  pauseAll: 'Alle pausieren',
  resumeAll: 'Alle fortsetzen',
  cancelAll: 'Alle abbrechen',
  retryFailed: 'Fehlgeschlagene erneut hochladen',
  clear: 'Fertige entfernen',
  moreActions: 'Weitere Aktionen',
  progress: 'Fortschritt aller Dateien',
  progressOf: (name) => `Fortschritt von ${name}`,
  sizeOf: (sent, total) => `${sent} von ${total}`,
  left: (duration) => `noch ${duration}`,
  soon: 'noch wenige Sekunden',
  doneOf: (done, count) => `${number(done)} von ${files(count)} fertig`,
  ready: (count) => `${files(count)} bereit zum Hochladen`,
  uploading: plural({ one: '# Datei wird hochgeladen', other: '# Dateien werden hochgeladen' }),
  chooseAllAgain: plural({ one: '# Datei erneut auswählen', other: '# Dateien erneut auswählen' }),
  allUploaded: (count) =>
    count === 1
      ? '1 Datei hochgeladen'
      : `${count === 2 ? 'Beide Dateien' : `Alle ${files(count)}`} hochgeladen`,
  failed: plural({ one: '# Upload fehlgeschlagen', other: '# Uploads fehlgeschlagen' }),
  rejected: plural({ one: '# Datei wurde nicht hinzugefügt', other: '# Dateien wurden nicht hinzugefügt' }),
  limit: (limit) => `Zulässig: ${limit}.`,
  more: plural({ one: 'und # weitere Datei', other: 'und # weitere Dateien' }),
  dismiss: 'Schließen',
  signInTitle: 'Zum Hochladen anmelden',
  signInText: 'Die Anmeldung wird in einem neuen Fenster geöffnet. Ihre Dateien bleiben auf dieser Seite.',
  signIn: 'Anmelden',
  popupTitle: 'Im Anmeldefenster fortfahren',
  popupText: 'Schließen Sie die Anmeldung dort ab und kehren Sie dann zu dieser Seite zurück.',
  popupLostTitle: 'Warten auf Anmeldung',
  popupLostText: 'Falls Sie das Anmeldefenster geschlossen haben, öffnen Sie es erneut.',
  openAgain: 'Erneut öffnen',
  continueHere: 'In diesem Tab fortfahren',
  redirectText:
    'Zum Anmelden verlassen Sie diese Seite. Danach müssen Sie unvollständig hochgeladene Dateien möglicherweise erneut auswählen.',
  signingIn: 'Sie werden angemeldet\u00a0…',
  signedIn: 'Sie sind angemeldet.',
  cancelSignIn: 'Anmeldung abbrechen',
  coolingTitle: 'Anmeldung verzögert sich',
  coolingText: (duration) =>
    duration === undefined ? 'Neuer Versuch in Kürze.' : withFullStop(`Neuer Versuch in etwa ${duration}`),
  tryAgain: 'Erneut versuchen',
  announceSums: (percent, done, count, left) =>
    withFullStop(
      `${percent} hochgeladen, ${number(done)} von ${files(count)} fertig${left ? `, ${left}` : ''}`,
    ),
  announcePaused: (count) => `Pausiert: ${files(count)}`,
  announceResumed: plural({ one: '# Upload wird fortgesetzt', other: '# Uploads werden fortgesetzt' }),
  announceRetrying: (count) => `Neuer Versuch: ${files(count)}`,
  announceRestored: (count) => (count === 1 ? 'Wiederhergestellt' : `Wiederhergestellt: ${files(count)}`),
  announceFinished: describeEnd(
    (count) => `Abgeschlossen: ${files(count)} hochgeladen.`,
    'Abgeschlossen.',
    notUploaded,
    (count) => `${files(count)} abgebrochen.`,
  ),
  announceUndo: (text) => `${text}. Sie können dies einige Sekunden lang rückgängig machen.`,
  announceFailed: (count, name, sentence) =>
    `${count === 1 ? '' : `${notUploaded(count)} `}${name}: ${sentence}`,
  announceRejected: (count, name, sentence) =>
    count === 1
      ? `${name} wurde nicht hinzugefügt. ${sentence}`
      : `${files(count)} wurden nicht hinzugefügt. ${name}: ${sentence}`,
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  show: 'Passwort anzeigen',
  hide: 'Passwort ausblenden',
  logIn: 'Anmelden',
  signInWith: (label) => `Mit ${label} anmelden`,
  account: 'Kontotyp',
  busy: 'Einen Moment\u00a0…',
  chooseTitle: 'Wie möchten Sie Ihre Identität bestätigen?',
  methods: {
    passkey: 'Passkey',
    push: 'Auf dem Smartphone bestätigen',
    totp: 'Code aus der Authenticator-App',
    email: 'Code per E-Mail',
    sms: 'Code per SMS',
    recovery: 'Wiederherstellungscode',
    code: 'Code',
  },
  code: 'Code',
  sentTo: (where) => `Gesendet an ${where}.`,
  attemptsLeft: plural({ one: 'Noch # Versuch.', other: 'Noch # Versuche.' }),
  verify: 'Bestätigen',
  usePasskey: 'Passkey verwenden',
  waitText:
    'Öffnen Sie die App auf Ihrem Smartphone und bestätigen Sie die Anfrage. Diese Seite wird automatisch aktualisiert.',
  waitNumber: (number) => `Tippen Sie auf Ihrem Smartphone auf ${number}.`,
  sendAgain: 'Erneut senden',
  sendAgainIn: (count) => `Erneut senden in ${seconds(count)}`,
  seconds,
  otherMethod: 'Andere Methode',
  startOver: 'Von vorn beginnen',
  inWindow: 'Anmeldefenster öffnen',
  otherJar: 'Ihr Browser unterstützt die Anmeldung hier nicht. Verwenden Sie stattdessen das Anmeldefenster.',
  framed:
    'Zu Ihrer Sicherheit ist die Anmeldung auf einer eingebetteten Seite nicht möglich. Öffnen Sie die Seite in einem eigenen Tab.',
  shownElsewhere: 'Verwenden Sie das Anmeldeformular, das bereits auf dieser Seite angezeigt wird.',
};

export default de;
