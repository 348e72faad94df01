'use client';

import { useState } from 'react';
import { SecureUploader } from 'secure-uploader/react';
import { getToken } from './get-token';

export function Files() {
  const [status, setStatus] = useState('');
  return (
    <>
      <SecureUploader
        baseUrl="http://localhost:8787"
        parentId="folder-a"
        commitPath="/files/uploadsession/commit"
        multiple
        getToken={getToken}
        onUploadCompleted={({ detail }) => setStatus(`Uploaded ${detail.name}`)}
      />
      <p role="status">{status}</p>
    </>
  );
}
