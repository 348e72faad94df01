import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Files } from './Files';

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Files />
    </StrictMode>,
  );
