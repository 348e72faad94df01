// The attributes with which the code of the site is tested.

import type { Service } from '../../demo/server/server.ts';

/** Returns the attributes of an element that uploads to the service. */
export const attributesOf = ({ baseUrl, storageUrl }: Service): Record<string, string> => ({
  'base-url': baseUrl,
  'upload-origins': storageUrl,
  'parent-id': 'folder-a',
  'commit-path': '/files/uploadsession/commit',
  multiple: '',
});
