// French (formal address).

import type { LoginMessages } from '../ui/login-messages.ts';
import { countsIn, finished } from '../ui/plurals.ts';

const { number, plural, seconds } = countsIn('fr', 'de');
// “De” is shortened before a vowel.
const { plural: elided } = countsIn<'one' | 'many' | 'other'>('fr');
const files = plural({ one: '# fichier', other: '# fichiers' });
const finishedFiles = plural({ one: '# fichier terminé', other: '# fichiers terminés' });
const notUploaded = plural({
  one: '# fichier n’a pas pu être importé.',
  other: '# fichiers n’ont pas pu être importés.',
});

const fr: LoginMessages = {
  'bad-config':
    'L’importation n’est pas correctement configurée sur cette page. Contactez le administrateur du site.',
  'insecure-context': 'L’importation nécessite une connexion sécurisée. Ouvrez cette page en HTTPS.',
  'file-too-large': 'Trop volumineux. Choisissez un fichier plus petit.',
  'file-type-refused': 'Type de fichier non autorisé. Choisissez un autre fichier.',
  'too-many-files': 'Trop de fichiers. Retirez-en un pour en ajouter un autre.',
  'file-empty': 'Fichier vide. Choisissez-en un autre.',
  'file-unreadable':
    'Impossible de lire ce fichier. Vérifiez qu’il existe toujours et qu’il n’est pas ouvert dans une autre application, puis choisissez-le à nouveau.',
  'file-changed':
    'Ce fichier a été modifié pendant l’importation. Réessayez pour importer la nouvelle version.',
  'wrong-file': 'Ce fichier ne correspond pas à l’importation inachevée. Choisissez le fichier d’origine.',
  'hash-failed': 'Impossible de préparer ce fichier pour l’importation. Réessayez.',
  'transform-failed': 'Impossible de préparer ce fichier pour l’importation. Réessayez.',
  'location-not-removed': 'La position ne peut pas être retirée de ce fichier. Choisissez un autre fichier.',
  offline: 'Vous êtes hors ligne. L’importation reprendra dès que vous serez de nouveau en ligne.',
  network: 'Impossible de joindre le serveur. Vérifiez votre connexion Internet et réessayez.',
  timeout: 'Le serveur a mis trop de temps à répondre. Réessayez dans un instant.',
  'rate-limited': 'Le serveur est surchargé. Réessayez dans un instant.',
  forbidden:
    'Vous n’êtes pas autorisé à importer des fichiers ici. Demandez l’accès au administrateur du site.',
  'name-taken': 'Un fichier portant ce nom existe déjà. Importez le vôtre sous un autre nom.',
  'session-expired':
    'Cette importation a expiré. Si le fichier n’est pas dans le dossier, retirez-le ici et ajoutez-le à nouveau.',
  'service-failed': 'Une erreur s’est produite sur le serveur. Réessayez dans un instant.',
  'service-not-found':
    'L’importation n’est pas correctement configurée sur cette page. Contactez le administrateur du site.',
  'service-full': 'Il n’y a plus d’espace sur le serveur. Contactez le administrateur du site.',
  'bad-response': 'Le serveur a envoyé des données inattendues. Réessayez dans un instant.',
  'ticket-expired': 'Le lien d’importation a expiré. Réessayez.',
  'upload-refused': 'Le serveur a refusé l’importation. Réessayez ou contactez le administrateur du site.',
  'storage-unreadable':
    'Le serveur de stockage n’est pas accessible depuis cette page. Contactez le administrateur du site.',
  'upload-stalled': 'L’importation ne progresse plus. Vérifiez votre connexion Internet et réessayez.',
  'upload-restarted': 'Cette importation a dû recommencer depuis le début et prendra donc plus de temps.',
  'hash-mismatch':
    'Des données ont été endommagées pendant l’importation, mais votre fichier est intact. Réessayez.',
  'store-full':
    'L’espace de stockage de votre navigateur est plein\u00a0: cette importation ne pourra pas reprendre plus tard. Gardez cette page ouverte jusqu’à la fin.',
  'store-unavailable':
    'Votre navigateur ne peut pas enregistrer la progression de cette importation. Gardez cette page ouverte jusqu’à la fin.',
  'sign-in-required': 'Connectez-vous pour continuer.',
  'access-denied': 'L’accès a été refusé. Reconnectez-vous ou utilisez un autre compte.',
  'authorize-failed': 'Échec de la connexion. Réessayez.',
  'popup-blocked':
    'Votre navigateur a bloqué la fenêtre de connexion. Autorisez les pop-ups pour cette page et réessayez.',
  'popup-closed': 'La fenêtre de connexion a été fermée. Connectez-vous pour continuer.',
  'popup-timeout': 'La connexion a pris trop de temps. Réessayez.',
  'silent-timeout': 'Impossible de vous connecter automatiquement. Connectez-vous pour continuer.',
  'state-mismatch': 'Impossible de vérifier cette connexion. Réessayez.',
  'issuer-mismatch': 'Cette connexion provient d’un serveur inattendu. Contactez le administrateur du site.',
  'code-rejected': 'Impossible de terminer votre connexion. Réessayez.',
  'token-malformed': 'Une erreur s’est produite lors de votre connexion. Réessayez.',
  'token-rejected': 'Le serveur n’a pas accepté votre connexion. Reconnectez-vous.',
  'host-token-failed': 'Cette page n’a pas pu vous connecter. Réessayez.',
  'credentials-rejected': 'Adresse e-mail ou mot de passe incorrect. Réessayez.',
  'account-locked': 'Ce compte est verrouillé. Réessayez plus tard ou contactez le administrateur du site.',
  'challenge-failed': 'Échec de la validation. Réessayez.',
  'challenge-denied': 'La demande de connexion a été refusée. Réessayez.',
  'challenge-expired': 'Le délai de cette étape a expiré. Reconnectez-vous.',
  'method-unsupported':
    'Ce formulaire ne prend pas en charge votre méthode de validation. Connectez-vous autrement.',
  'step-unsupported':
    'Vous ne pouvez pas terminer la connexion avec ce formulaire. Connectez-vous autrement.',
  'passkey-canceled': 'La connexion par clé d’accès a été annulée. Réessayez.',
  'passkey-unavailable': 'Les clés d’accès ne sont pas utilisables ici. Choisissez une autre méthode.',
  canceled: 'Annulé.',
  locale: 'fr',
  label: 'Importation de fichiers',
  dropFile: 'Déposez un fichier ici',
  dropFiles: 'Déposez des fichiers ici',
  dropNow: 'Déposez pour importer',
  turnedOff: 'Les importations sont désactivées',
  chooseFile: 'Choisir un fichier',
  chooseFiles: 'Choisir des fichiers',
  chooseFolder: 'Choisir un dossier',
  kinds: {
    image: 'images',
    video: 'vidéos',
    audio: 'fichiers audio',
    text: 'fichiers texte',
    other: 'autres types',
  },
  upTo: (size) => `jusqu’à ${size} par fichier`,
  atMost: (count) => `${files(count)} maximum`,
  atLeast: (count) => `Importez au moins ${files(count)}.`,
  unfinished:
    'Certains fichiers ne sont pas encore importés. Terminez leur importation ou retirez-les de la liste.',
  unsendable: (name) =>
    `Impossible d’envoyer ${name} avec ce formulaire. Retirez-le de la liste, puis ajoutez-le à nouveau.`,
  submitsLater: 'Le formulaire sera envoyé une fois tous les fichiers importés.',
  notSent: 'Le formulaire n’a pas été envoyé.',
  loadFailed:
    'Impossible de charger tout ce qui est nécessaire à l’importation. Vérifiez votre connexion et réessayez.',
  reload:
    'Impossible de charger tout ce qui est nécessaire à l’importation. Actualisez cette page, puis choisissez à nouveau vos fichiers.',
  reading: (count) => `Lecture des fichiers… ${files(count)} trouvé${count < 2 ? '' : 's'}`,
  emptyFolders: plural({ one: '# dossier vide a été ignoré.', other: '# dossiers vides ont été ignorés.' }),
  list: 'Fichiers',
  phases: {
    queued: 'En attente',
    hashing: 'Préparation…',
    uploading: 'Importation en cours',
    committing: 'Finalisation…',
    done: 'Terminé',
    failed: 'Échec de l’importation',
    canceled: 'Annulé',
  },
  pauseReasons: {
    user: 'En pause',
    offline: 'En attente du réseau',
    'signed-out': 'En attente d’authentification',
    challenge: 'En attente d’authentification',
    'rate-limited': 'Serveur surchargé, nouvel essai imminent',
    'other-tab': 'Importation dans un autre onglet',
    'slow-file': 'En attente du fichier',
    resuming: 'Reprise…',
    'needs-file': 'Choisissez à nouveau le fichier pour continuer',
  },
  retrying: 'Nouvel essai…',
  retryingIn: (duration) => `Nouvel essai dans ${duration}`,
  pause: 'Mettre en pause',
  resume: 'Reprendre',
  chooseAgain: 'Choisir le fichier',
  cancel: 'Annuler',
  retry: 'Réessayer',
  uploadAs: (name) => `Importer sous le nom ${name}`,
  remove: 'Retirer de la liste',
  undo: 'Rétablir',
  undoableCancel: elided({
    one: 'Importation annulée',
    many: '# d’importations annulées',
    other: '# importations annulées',
  }),
  undoableRemoval: 'Fichier retiré de la liste',
  actionOn: (action, name) => `${action}\u00a0: ${name}`,
  start: (count) => `Importer ${files(count)}`,
  pauseAll: 'Tout mettre en pause',
  resumeAll: 'Tout reprendre',
  cancelAll: 'Tout annuler',
  retryFailed: 'Relancer les fichiers en échec',
  clear: 'Retirer les fichiers terminés',
  moreActions: 'Plus d’actions',
  progress: 'Progression de tous les fichiers',
  progressOf: (name) => `Progression de ${name}`,
  sizeOf: (sent, total) => `${sent} sur ${total}`,
  left: (duration) => `il reste ${duration}`,
  soon: 'il reste quelques secondes',
  doneOf: (done, count) => `${finishedFiles(done)} sur ${number(count)}`,
  ready: plural({ one: '# fichier prêt à importer', other: '# fichiers prêts à importer' }),
  uploading: (count) => `Importation de ${files(count)}`,
  chooseAllAgain: (count) => `Choisissez à nouveau ${files(count)}`,
  allUploaded: plural({ one: '# fichier importé', other: 'Les # fichiers sont importés' }),
  failed: plural({ one: '# fichier en échec', other: '# fichiers en échec' }),
  rejected: plural({ one: '# fichier n’a pas été ajouté', other: '# fichiers n’ont pas été ajoutés' }),
  limit: (limit) => `Autorisé\u00a0: ${limit}.`,
  more: elided({ one: 'et # autre', many: 'et # d’autres', other: 'et # autres' }),
  dismiss: 'Fermer',
  signInTitle: 'Connectez-vous pour importer',
  signInText: 'La connexion s’ouvre dans une nouvelle fenêtre. Vos fichiers restent sur cette page.',
  signIn: 'Se connecter',
  popupTitle: 'Continuez dans la fenêtre de connexion',
  popupText: 'Terminez-y la connexion, puis revenez sur cette page.',
  popupLostTitle: 'En attente d’authentification',
  popupLostText: 'Si vous avez fermé la fenêtre de connexion, rouvrez-la.',
  openAgain: 'Rouvrir',
  continueHere: 'Continuer dans cet onglet',
  redirectText:
    'Vous allez quitter cette page pour vous connecter. À votre retour, vous devrez peut-être choisir à nouveau les fichiers non terminés.',
  signingIn: 'Connexion en cours…',
  coolingTitle: 'Nouvelle tentative d’authentification',
  coolingText: (duration) =>
    duration === undefined ? 'Nouvel essai imminent.' : `Nouvel essai dans environ ${duration}.`,
  tryAgain: 'Réessayer',
  announceSums: (percent, done, count, left) =>
    `${percent} importés, ${finishedFiles(done)} sur ${number(count)}${left ? `, ${left}` : ''}.`,
  announcePaused: (count) => `En pause\u00a0: ${files(count)}`,
  announceFinished: finished(
    plural({ one: 'Terminé\u00a0: # fichier importé.', other: 'Terminé\u00a0: # fichiers importés.' }),
    'Terminé.',
    notUploaded,
    plural({ one: '# fichier annulé.', other: '# fichiers annulés.' }),
  ),
  announceUndo: (text) => `${text}. Vous pouvez revenir en arrière pendant quelques secondes.`,
  announceFailed: (count, name, sentence) =>
    `${count === 1 ? '' : `${notUploaded(count)} `}${name}\u00a0: ${sentence}`,
  announceRejected: (count, name, sentence) =>
    count === 1
      ? `${name} n’a pas été ajouté. ${sentence}`
      : `${files(count)} n’ont pas été ajoutés. ${name}\u00a0: ${sentence}`,
  email: 'Adresse e-mail',
  password: 'Mot de passe',
  show: 'Afficher le mot de passe',
  hide: 'Masquer le mot de passe',
  logIn: 'Se connecter',
  signInWith: (label) => `Se connecter avec ${label}`,
  account: 'Type de compte',
  busy: 'Un instant…',
  chooseTitle: 'Comment souhaitez-vous confirmer votre identité\u202f?',
  methods: {
    passkey: 'Clé d’accès',
    push: 'Validation sur votre téléphone',
    totp: 'Code de votre appli d’authentification',
    email: 'Code par e-mail',
    sms: 'Code par SMS',
    recovery: 'Code de récupération',
    code: 'Code',
  },
  code: 'Code',
  sentTo: (where) => `Envoyé à ${where}.`,
  attemptsLeft: plural({ one: 'Il reste # tentative.', other: 'Il reste # tentatives.' }),
  verify: 'Confirmer',
  usePasskey: 'Utiliser une clé d’accès',
  waitText:
    'Ouvrez l’application sur votre téléphone et validez la demande. Cette page se met à jour automatiquement.',
  waitNumber: (number) => `Sélectionnez ${number} sur votre téléphone.`,
  sendAgain: 'Renvoyer',
  sendAgainIn: (count) => `Renvoyer dans ${seconds(count)}`,
  seconds,
  otherMethod: 'Essayer autrement',
  startOver: 'Recommencer',
  inWindow: 'Ouvrir la fenêtre de connexion',
  otherJar: 'Votre navigateur ne permet pas de se connecter ici. Utilisez plutôt la fenêtre de connexion.',
  framed:
    'Pour votre sécurité, vous ne pouvez pas vous connecter sur une page intégrée. Ouvrez-la dans son propre onglet.',
  shownElsewhere: 'Utilisez le formulaire de connexion déjà affiché sur cette page.',
  done: 'Connexion réussie.',
};

export default fr;
