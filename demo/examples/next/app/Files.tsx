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
        uploadOrigins="http://localhost:8788"
        owner="alice"
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
