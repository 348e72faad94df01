// Demo data: users, folders with their access lists, clients and a file.

/** What a user may do in a folder. Writing includes reading. */
export type Right = 'read' | 'write';

/** A second step after the password. */
export type Method = 'totp' | 'email' | 'sms' | 'push' | 'passkey' | 'recovery';

/** A user of the demonstration. */
export interface User {
  /** Also the name of the user's folder on disk: lower-case letters, digits, dashes. */
  id: string;
  email: string;
  name: string;
  /** What the user demonstrates. */
  about: string;
  /** Empty: the password is enough. No client supports `retina`. */
  methods: readonly (Method | 'retina')[];
  /** Why a correct password is refused. */
  hindrance?: 'locked' | 'password-expired';
}

/** A folder that files can be put in. */
export interface Folder {
  id: string;
  name: string;
  /** Rights of all users who are not in `except`. */
  everyone: Right | 'none';
  except: Record<string, Right | 'none'>;
  /** If a name is taken: keep both files, or refuse the second. */
  conflict: 'keep-both' | 'fail';
  /** Largest file in bytes; defaults to the limit of the service. */
  maxFileBytes?: number;
}

/** A page that may ask for codes. */
export interface Client {
  id: string;
  name: string;
}

/** The password of every demo user. */
export const demoPassword = 'open sesame 42';

export const users: readonly User[] = [
  { id: 'user-alice', email: 'alice@example.com', name: 'Alice', about: 'password only', methods: [] },
  {
    id: 'user-tom',
    email: 'tom@example.com',
    name: 'Tom',
    about: 'authenticator app (TOTP)',
    methods: ['totp'],
  },
  {
    id: 'user-mia',
    email: 'mia@example.com',
    name: 'Mia',
    about: 'code by email or SMS, or a recovery code',
    methods: ['email', 'sms', 'recovery'],
  },
  {
    id: 'user-paul',
    email: 'paul@example.com',
    name: 'Paul',
    about: 'approval on a phone, with a number to match',
    methods: ['push'],
  },
  {
    id: 'user-olga',
    email: 'olga@example.com',
    name: 'Olga',
    about: 'authenticator app, code by email or SMS, or a recovery code',
    methods: ['recovery', 'sms', 'email', 'totp'],
  },
  { id: 'user-petra', email: 'petra@example.com', name: 'Petra', about: 'passkey', methods: ['passkey'] },
  {
    id: 'user-lou',
    email: 'lou@example.com',
    name: 'Lou',
    about: 'locked',
    methods: [],
    hindrance: 'locked',
  },
  {
    id: 'user-nina',
    email: 'nina@example.com',
    name: 'Nina',
    about: 'password expired',
    methods: [],
    hindrance: 'password-expired',
  },
  {
    id: 'user-uma',
    email: 'uma@example.com',
    name: 'Uma',
    about: 'only a method that no client supports',
    methods: ['retina'],
  },
  { id: 'user-vic', email: 'vic@example.com', name: 'Vic', about: 'no right in folder B', methods: [] },
];

export const folders: readonly Folder[] = [
  { id: 'folder-a', name: 'Inbox', everyone: 'write', except: {}, conflict: 'keep-both' },
  {
    id: 'folder-b',
    name: 'Contracts',
    everyone: 'write',
    except: { 'user-vic': 'none' },
    conflict: 'keep-both',
  },
  { id: 'folder-unique', name: 'One of each name', everyone: 'write', except: {}, conflict: 'fail' },
  { id: 'folder-readonly', name: 'Handbook', everyone: 'read', except: {}, conflict: 'keep-both' },
  {
    id: 'folder-small',
    name: 'Small files',
    everyone: 'write',
    except: {},
    conflict: 'keep-both',
    maxFileBytes: 1024 * 1024,
  },
];

export const clients: readonly Client[] = [{ id: 'secure-uploader', name: 'Secure Uploader' }];

/** A file in the handbook. */
export const demoFile = {
  userId: 'user-alice',
  folderId: 'folder-readonly',
  name: 'Welcome.txt',
  text: 'Files that you upload are cut into chunks, each named by its hash.\n',
};

/** The user that a test or a page names: by id, by email address, or by the name before the `@`. */
export function findNamed(name: string): User | undefined {
  return users.find(({ id, email }) => id === name || email === name || id === `user-${name}`);
}

/** The email address is not case-sensitive. */
export function findUser(email: string): User | undefined {
  const wanted = email.trim().toLowerCase();
  return users.find((user) => user.email === wanted);
}

/** The user's right in the folder. */
export function rightOf(user: User, folder: Folder): Right | 'none' {
  return folder.except[user.id] ?? folder.everyone;
}
