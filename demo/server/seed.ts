// Demo data: users, folders with their access lists, clients and a file.

/** What a user may do in a folder. Writing includes reading. */
export type Right = 'read' | 'write';

/** A method of the second step after the password. */
export type Method = 'totp' | 'email' | 'sms' | 'push' | 'passkey' | 'recovery';

/** A demo user. */
export interface User {
  /** Id of the user, and name of the user's folder on disk: lowercase letters, digits, dashes. */
  id: string;
  email: string;
  name: string;
  /** Describes which case this user demonstrates. */
  about: string;
  /** Methods of the second step; empty if there is none. `retina` is a method that no client supports. */
  methods: readonly (Method | 'retina')[];
  /** Why sign-in fails even with the correct password. */
  hindrance?: 'locked' | 'password-expired';
}

/** A destination for uploads. */
export interface Folder {
  id: string;
  name: string;
  /** Permission of all users who are not in `except`. */
  everyone: Right | 'none';
  except: Record<string, Right | 'none'>;
  /** What happens if the folder has a file of the same name: both files are kept, or the new upload is refused. */
  conflict: 'keep-both' | 'fail';
  /** Size limit for a file in bytes. Defaults to the limit of the service. */
  maxFileBytes?: number;
}

/** An OAuth client. */
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

/** A file that exists from the first start. */
export const demoFile = {
  userId: 'user-alice',
  folderId: 'folder-readonly',
  name: 'Welcome.txt',
  text: 'Files that you upload are cut into chunks, each named by its hash.\n',
};

/** Finds a user by id, by email address, or by the part of the email address before the `@`. */
export function findNamed(name: string): User | undefined {
  return users.find(({ id, email }) => id === name || email === name || id === `user-${name}`);
}

/** Finds a user by email address, which is not case-sensitive. */
export function findUser(email: string): User | undefined {
  const wanted = email.trim().toLowerCase();
  return users.find((user) => user.email === wanted);
}

/** Returns the user's right in the folder. */
export function rightOf(user: User, folder: Folder): Right | 'none' {
  return folder.except[user.id] ?? folder.everyone;
}
